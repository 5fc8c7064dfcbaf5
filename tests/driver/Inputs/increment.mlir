gpu.module @kernels {
  llvm.func @increment(%data: !llvm.ptr<1> {llvm.align = 16 : i64}, %n: i32)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %block = nvvm.read.ptx.sreg.ctaid.x : i32
    %width = nvvm.read.ptx.sreg.ntid.x : i32
    %thread = nvvm.read.ptx.sreg.tid.x : i32
    %base = llvm.mul %block, %width : i32
    %i = llvm.add %base, %thread : i32
    %inside = llvm.icmp "slt" %i, %n : i32
    llvm.cond_br %inside, ^update, ^end
  ^update:
    %one = llvm.mlir.constant(1.0 : f32) : f32
    %at = llvm.getelementptr %data[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %old = llvm.load %at : !llvm.ptr<1> -> f32
    %new = llvm.fadd %old, %one : f32
    llvm.store %new, %at : f32, !llvm.ptr<1>
    llvm.br ^end
  ^end:
    llvm.return
  }
}
