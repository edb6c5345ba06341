"""The game of Chakra; `game` lists what it gives, `variants` may be imported without compiling."""
