# Hundreds of threads.
import threading

threading.stack_size(32768)
gate = threading.Event()
started = 0
try:
    for _ in range(300):
        threading.Thread(target=gate.wait, daemon=True).start()
        started += 1
except RuntimeError:
    pass
gate.set()
print(f"probe more than 100 threads: {'ok' if started > 100 else 'refused'}")
