# Install target, pkg-config file and CMake package.
install(TARGETS meniscus EXPORT meniscus-targets)
install(TARGETS meniscus_program)
install(DIRECTORY include/meniscus TYPE INCLUDE)
