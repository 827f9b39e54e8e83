# System calls by the 32-bit gate, int 0x80, where numbers mean other calls.
# reason: made a forbidden system call|crashed|was killed
# machine: x86_64
import ctypes
import mmap


def double(values):
    area = mmap.mmap(-1, 4096, prot=7)
    # mov eax, 20 (getpid in the 32-bit table); int 0x80; ret
    area.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")
    function = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(area)))
    print("probe int 0x80: ok", function())
    return values
