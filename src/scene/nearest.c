#include "scene/nearest.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST = 64 };

static int min3(int a, int b, int c)
{
  int m = a < b ? a : b;
  return m < c ? m : c;
}

/* Levenshtein distance without regard to case; words are cut at LONGEST letters. */
static int distance(const char *a, const char *b)
{
  int na = (int)strlen(a), nb = (int)strlen(b), row[LONGEST + 1];
  na = na < LONGEST ? na : LONGEST;
  nb = nb < LONGEST ? nb : LONGEST;
  for (int j = 0; j <= nb; j++)
    row[j] = j;
  for (int i = 1; i <= na; i++) {
    int diagonal = row[0];
    row[0] = i;
    for (int j = 1; j <= nb; j++) {
      int change = tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[j - 1]);
      int next = min3(row[j] + 1, row[j - 1] + 1, diagonal + change);
      diagonal = row[j];
      row[j] = next;
    }
  }
  return row[nb];
}

void mn_nearest_offer(mn_nearest *nearest, const char *known)
{
  int d = distance(nearest->word, known);
  size_t shorter = strlen(known) < strlen(nearest->word) ? strlen(known) : strlen(nearest->word);
  int allowed = shorter < 3 ? 1 : 1 + (int)shorter / 3;
  int inside = shorter >= 3 && (strstr(known, nearest->word) || strstr(nearest->word, known));
  if (d >= (int)strlen(known) || (d > allowed && !inside))
    return;
  if (!nearest->best || d < nearest->distance) {
    nearest->best = known;
    nearest->distance = d;
  }
}
