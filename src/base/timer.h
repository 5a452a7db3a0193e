/* Clocks for phase times. */
#ifndef MN_BASE_TIMER_H
#define MN_BASE_TIMER_H

double mn_seconds(void); /* wall clock, monotonic */
double
mn_cpu_seconds(void); /* of the processor, all threads: what a busy machine does not lengthen */

#endif
