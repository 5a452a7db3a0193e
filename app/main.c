#include <stdio.h>

#include "meniscus/meniscus.h"

int main(void)
{
  printf("meniscus %s\n", mn_version());
  return 0;
}
