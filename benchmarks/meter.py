"""Run a command and say what it took: `python meter.py SECONDS FOLDER OUTPUT COMMAND …` prints a line of JSON.

A process of its own, and a small one: by the operating system's count a child begins with the memory of whoever starts
it. After SECONDS (0: never) the command is killed, with whatever it started. FOLDER: where it spills to; its size is
looked at every hundredth of a second. OUTPUT: the file for what it prints.
"""

import json
import os
import signal
import subprocess
import sys
import time


def size(folder: str) -> int:
    """The bytes of all files in a folder, of which any may vanish meanwhile."""
    total = 0
    for path, _, files in os.walk(folder):
        for name in files:
            try:
                total += os.stat(os.path.join(path, name)).st_size
            except OSError:
                continue
    return total


def main() -> None:
    """Run it, and print what it took."""
    seconds, folder, output, *command = sys.argv[1:]
    started, spilled, killed = time.monotonic(), 0, False
    with open(output, "wb") as out:
        child = subprocess.Popen(command, stdout=out, start_new_session=True)
    try:
        ended, status, used = os.wait4(child.pid, os.WNOHANG)
        while not ended:
            spilled = max(spilled, size(folder)) if folder else 0
            if float(seconds) and not killed and time.monotonic() - started > float(seconds):
                os.killpg(child.pid, signal.SIGKILL)
                killed = True
            time.sleep(0.01)
            ended, status, used = os.wait4(child.pid, os.WNOHANG)
    except BaseException:
        os.killpg(child.pid, signal.SIGKILL)
        raise
    took = {
        "wall": time.monotonic() - started,
        "cpu": used.ru_utime + used.ru_stime,
        "megabytes": used.ru_maxrss / 1024,
    }
    code = os.waitstatus_to_exitcode(status)
    print(json.dumps({**took, "spilled": spilled / 1e6, "code": code, "killed": killed}))


if __name__ == "__main__":
    main()
