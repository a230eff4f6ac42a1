#include "app/program.h"

int main(int argc, char** argv) {
  return culvert::app::run_program(argc, argv);
}
