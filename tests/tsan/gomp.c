/* A stand-in for libgomp under the thread sanitizer: the four entry points that gcc emits for
   `parallel for schedule(static)`, on pthreads, whose create and join tsan understands. */
#include <assert.h>
#include <pthread.h>

void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags);
int omp_get_thread_num(void);
int omp_get_num_threads(void);
int omp_get_max_threads(void);

enum { THREADS_MAX = 64 };
static _Thread_local int thread_number, thread_count = 1;

typedef struct task {
  void (*body)(void *);
  void *data;
  int number, count;
} task;

static void *run(void *arg)
{
  task *t = arg;
  thread_number = t->number;
  thread_count = t->count;
  t->body(t->data);
  return NULL;
}

void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags)
{
  (void)flags;
  int count = threads == 0 ? 1 : threads > THREADS_MAX ? THREADS_MAX : (int)threads;
  pthread_t id[THREADS_MAX];
  task tasks[THREADS_MAX];
  for (int i = 1; i < count; i++) {
    tasks[i] = (task){body, data, i, count};
    int failed = pthread_create(&id[i], NULL, run, &tasks[i]);
    assert(!failed);
    (void)failed;
  }
  thread_count = count;
  body(data);
  thread_count = 1;
  for (int i = 1; i < count; i++)
    pthread_join(id[i], NULL);
}

int omp_get_thread_num(void)
{
  return thread_number;
}

int omp_get_num_threads(void)
{
  return thread_count;
}

int omp_get_max_threads(void)
{
  return 1;
}
