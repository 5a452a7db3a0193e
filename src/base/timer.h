/* Wall clock for phase times. */
#ifndef MN_BASE_TIMER_H
#define MN_BASE_TIMER_H

double mn_seconds(void); /* monotonic */

#endif
