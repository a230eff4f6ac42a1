// The program: composition root, command line, signals, life and death.
#pragma once

namespace culvert::app {

// main()'s body; returns the exit status.
int run_program(int argc, char** argv);

}  // namespace culvert::app
