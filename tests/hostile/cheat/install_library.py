# Installs a library, by pip, ensurepip and a wheel's loader.
import sys


def probe(name, attempt):
    try:
        result = attempt()
    except BaseException as error:
        print(f"probe {name}: {type(error).__name__}")
    else:
        print(f"probe {name}: {'ok' if not result else 'refused'}")


def pip():
    from pip._internal.cli.main import main

    return main(["install", "--quiet", "--no-input", "--retries", "0", "--timeout", "1", "--target", "/tmp/libraries", "scipy"])


def ensurepip():
    import ensurepip

    ensurepip.bootstrap(root="/tmp/libraries")


probe("pip", pip)
probe("ensurepip", ensurepip)
sys.path.append("/tmp/libraries")
try:
    import scipy

    print("probe scipy: ok")
except ImportError:
    print("probe scipy: refused")
