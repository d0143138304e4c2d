/* Processor time of a piece of work, wherever it is spent: in the thread that asks, in threads that work for it, in the
 * process that decodes. */
#pragma once

/* Seconds that the calling thread has used since it began, with those that others used for it. */
double smp_processor_now(void);

/* Adds what another thread or process used for the calling thread's work. Nothing is taken away. */
void smp_processor_add(double seconds);
