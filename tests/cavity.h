/* The lid-driven cavity against Ghia, Ghia and Shin 1982 (tables I and II, as digitised in the
   public test suite of PySPH). Ghia's v(0.9063) at Re 400 is a known misprint (-0.23827; an
   independent vorticity-streamfunction solver gives -0.3837) and is left out. */
#ifndef MN_TESTS_CAVITY_H
#define MN_TESTS_CAVITY_H

/* Greatest deviation from the table for Re 100, 400 or 1000 on n x n cells at time `until`. */
double cavity_deviation(int reynolds, int n, double until, double lid_speed);

#endif
