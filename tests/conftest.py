"""What holds for every test."""

import signal

# A run that a shell started in the background ignores interrupts, and its children would too:
# those that wait for one would then wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)
