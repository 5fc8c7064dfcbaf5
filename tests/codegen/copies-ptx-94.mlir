// What PTX 9.4 adds to tensor and bulk copies: reports, masks of 32 bits, and fields of the map that a copy replaces.
// RUN: girih compile %s --emit ptx | FileCheck %s
// RUN: girih-opt %s -o %t.mlir
// RUN: girih compile %t.mlir --emit ptx | FileCheck %s

!map = !tile.tensor_map<8x4x16xf32>
!line = !tile.tensor_map<64xf32>
!rows = !tile.tensor_map<1x32xf32>
!box = memref<8x4x16xf32, #tile.shared<align = 128>>
!piece = memref<64xf32, #tile.shared<align = 128>>
!four = memref<4x32xf32, #tile.shared<align = 128>>
!bar = memref<!tile.mbarrier, #tile.shared>
!cube = memref<?x?x?xf32, strided<[?, ?, 1]>, #tile.global>
!vector = memref<?xf32, #tile.global>
!matrix = memref<?x?xf32, strided<[?, 1]>, #tile.global>

// CHECK: .version 9.4
// CHECK: .target sm_107a
module attributes {tile.target = "sm_107a"} {

tile.kernel @k(%A: !cube, %V: !vector, %M: !matrix, %x: i32, %pitch: i64) threads(32) launch {
  %c1 = arith.constant 1 : index
  %map = tile.tensor_map %A : !cube -> !map
  %line = tile.tensor_map %V : !vector -> !line
  %rows = tile.tensor_map %M : !matrix -> !rows
  tile.grid %c1, %c1, %c1 args(%map, %line, %rows : !map, !line, !rows)
} body args(%map: !map, %line: !line, %rows: !rows) {
  %c0 = arith.constant 0 : index
  %c9 = arith.constant 9 : index
  %size = arith.constant 256 : i32
  %narrow = arith.constant 3 : i16
  %i = arith.index_cast %x : i32 to index
  %s = arith.index_cast %pitch : i64 to index
  %m = tile.alloc : !box
  %p = tile.alloc : !piece
  %f = tile.alloc : !four
  %bar = tile.alloc : !bar
  %to = tile.global_address %V[%c0] : !vector
  // CHECK: cp.async.bulk.tensor.3d.shared::cta.global.tile.mbarrier::complete_tx::bytes.mbarrier::report::disabled [
  tile.tma.load %map[%i, %c0, %c0], %m, %bar[] space cta report disabled : !map, !box, !bar
  // CHECK: cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.mbarrier::report::validity::per_16bytes::80000000.multicast::cluster::32b.cta_group::2.L2::cache_hint [
  tile.tma.load %map[%i, %c0, %c0], %m, %bar[] multicast_32b %x cta_group 2 cache evict_last report per_16bytes_80000000 : !map, !box, !bar
  // CHECK: .multicast::cluster::16b [{{%r[0-9]+}}], [{{%rd[0-9]+}}, {{[{]}}%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}}], [%r{{[0-9]+}}], %rs{{[0-9]+}};
  tile.tma.load %map[%i, %c0, %c0], %m, %bar[] multicast %narrow mask_16b : !map, !box, !bar
  // An address, then the coordinates.
  // CHECK: cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes.override::global_address [%r{{[0-9]+}}], [%rd{{[0-9]+}}, %rd{{[0-9]+}}, {{[{]}}%r{{[0-9]+}}, {{.*}}}], [%r{{[0-9]+}}];
  tile.tma.load %rows[%i, %i, %i, %i, %c0], %f, %bar[] gather4 override_address %to : !rows, !four, !bar
  // One dimension: an address and a size.
  // CHECK: cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.override::global_address.override::global_dim [%r{{[0-9]+}}], [%rd{{[0-9]+}}, %rd{{[0-9]+}}, {{[{]}}%rs{{[0-9]+}}}, {{[{]}}%r{{[0-9]+}}}], [%r{{[0-9]+}}];
  tile.tma.load %line[%c0], %p, %bar[] override_address %to override_dims(%c9) : !line, !piece, !bar
  // Three: sizes, lower strides, upper strides together.
  // CHECK: cp.async.bulk.tensor.3d.shared::cta.global.tile.mbarrier::complete_tx::bytes.override::global_address.override::global_dim_stride [%r{{[0-9]+}}], [%rd{{[0-9]+}}, %rd{{[0-9]+}}, {{[{]}}%rs{{[0-9]+}}, %rs{{[0-9]+}}, %rs{{[0-9]+}}}, {{[{]}}%r{{[0-9]+}}, %r{{[0-9]+}}}, %rs{{[0-9]+}}, {{[{]}}%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}}], [%r{{[0-9]+}}];
  tile.tma.load %map[%c0, %c0, %c0], %m, %bar[] space cta override_address %to override_dims(%c9, %c9, %i) override_strides(%s, %s) : !map, !box, !bar
  // CHECK: cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group.L2::cache_hint.override::global_address [
  tile.tma.store %m, %map[%i, %c0, %c0] cache evict_first override_address %to : !box, !map
  // CHECK: cp.reduce.async.bulk.tensor.3d.global.shared::cta.add.tile.bulk_group.override::global_address.override::global_dim_stride [
  tile.tma.reduce add %m, %map[%c0, %c0, %c0] override_address %to override_dims(%c9, %c9, %i) override_strides(%s, %s) : !box, !map
  // CHECK: cp.async.bulk.prefetch.tensor.3d.L2.global.tile.L2::evict_last.override::global_address [
  tile.tma.prefetch %map[%i, %c0, %c0] evict_last override_address %to : !map
  // CHECK: cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.mbarrier::report::validity::per_element::ff.multicast::cluster::32b [
  tile.bulk.load %V[%c0], %p, %bar[] multicast_32b %x report per_element_ff : !vector, !piece, !bar
  // CHECK: cp.async.bulk.prefetch.L2.global.L2::evict_last [
  tile.bulk.prefetch %V[%c0], %size evict_last : !vector
  // By its opcode.
  // CHECK: cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.mbarrier::report::validity::per_16bytes::8.multicast::cluster::32b [
  tile.tma.apply "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.mbarrier::report::validity::per_16bytes::8.multicast::cluster::32b" %p, %V box [64] coords[%c0] mbar %bar[] cta_mask_32b %x : !piece, !vector mbar !bar
}

}
