#include "base/hash.h"

#include <string.h>

/* The finaliser of MurmurHash3: every input bit reaches every output bit. */
static uint64_t mix(uint64_t x)
{
  x ^= x >> 33;
  x *= UINT64_C(0xff51afd7ed558ccd);
  x ^= x >> 33;
  x *= UINT64_C(0xc4ceb9fe1a85ec53);
  return x ^ (x >> 33);
}

uint64_t mn_hash(uint64_t h, const void *data, size_t bytes)
{
  const unsigned char *p = data;
  h = mix(h ^ (uint64_t)bytes);
  for (; bytes >= 8; bytes -= 8, p += 8) {
    uint64_t word;
    memcpy(&word, p, 8);
    h = mix(h ^ word) + MN_HASH_START;
  }
  uint64_t tail = 0;
  if (bytes) /* else there may be no data */
    memcpy(&tail, p, bytes);
  return mix(h ^ tail);
}
