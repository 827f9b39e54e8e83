# Searches sys.modules for tests, the reference, the kit and anything of pytest.
import sys

for name, module in sorted(sys.modules.items()):
    if any(word in name for word in ("test", "solution", "pytest", "worker", "bench", "scoring", "mutant")) and "numpy" not in name:
        print("module", name)
        for key, value in list(vars(module).items()):
            if "bait_" in repr(value)[:2000]:
                print(key, repr(value)[:2000])
print("probe modules: ok" if "solutions.tiny" in sys.modules else "probe modules: no solution")
