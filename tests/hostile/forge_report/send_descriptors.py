# Sends descriptors along with its frames, by the hundred and in circles, and receives some.
# reason: probe send
import array
import os
import socket

line = socket.socket(fileno=os.dup(3))
handles = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 3, line.fileno()]))
for name, attempt in (
    ("send", lambda: line.sendmsg([b"A"], [handles])),
    ("send none", lambda: line.sendmsg([b"A"])),
    ("receive", lambda: line.recvmsg(1, 1000, socket.MSG_DONTWAIT)),
):
    for _ in range(200):
        try:
            attempt()
            print(f"probe {name}: ok")
        except BlockingIOError:
            print(f"probe {name}: ok, nothing there")
        except OSError as error:
            print(f"probe {name}: {error.strerror}")
            break
