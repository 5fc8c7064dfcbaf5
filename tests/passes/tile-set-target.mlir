// RUN: girih-opt %s -tile-set-target | FileCheck %s --check-prefix=DEFAULT
// RUN: girih-opt %s -tile-set-target=target=sm_100a | FileCheck %s --check-prefix=GIVEN
// RUN: girih-opt %s -tile-set-target=target=sm_100a | girih-opt -tile-set-target=target=sm_90a 2>&1 | FileCheck %s --check-prefix=KEPT
// RUN: not girih-opt %s -tile-set-target=target=sm_90f 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// DEFAULT: module attributes {tile.target = "sm_90a"}
// GIVEN: module attributes {tile.target = "sm_100a"}
// KEPT: remark: the module names sm_100a itself, so tile-set-target{target=sm_90a} has no effect
// KEPT: module attributes {tile.target = "sm_100a"}
// UNKNOWN: error: option 'target' of tile-set-target: unknown target `sm_90f`; did you mean `sm_90`? It has no such suffix
module {
}
