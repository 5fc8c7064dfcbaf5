func.func @f(%a: i32) {
  tile.frobnicate %a
  return
}
