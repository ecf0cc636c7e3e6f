/* What was tried and what came of it, on disk before the next try, so that a run that was killed goes on where it was
 * and does not try again what killed it.
 *
 * Each run has its own file, locked while the run lives, in the directory "journal" beside the tuning records: lines of
 * a checksum and a text, appended and synced. A run adopts the files of dead runs on its device: candidates that were
 * lost stay in quarantine until journal_forget, what was measured for unfinished shapes is not measured again, and a
 * candidate without an outcome is suspected of having taken the process down. Without a place to write, all this holds
 * in memory for the one run. */
#ifndef TUNE_JOURNAL_H
#define TUNE_JOURNAL_H

#include "tune/outcome.h"

struct journal;

/* folder: where the records lie (NULL: nowhere). device: hash of the device's key, safe in a file name. provenance:
 * what measurements depend on; others' are passed over when it differs. What is wrong with files is a warning in the
 * log; only OUT_OF_MEMORY fails. */
clayer_status journal_open(const char *folder, const char *device, const char *provenance, struct journal **journal);
/* Removes the file when there is nothing in it that a later run needs. Accepts a pointer to NULL. */
void journal_close(struct journal **journal);

/* Why a plan must not be tried, or NULL. trusted: the rule of thumb's own plan or a record's, which takes two deaths
 * without another explanation before it is suspected, since any kill strikes some candidate. */
const char *journal_quarantined(const struct journal *journal, const char *plan, bool trusted);

/* Why a plan was lost beyond doubt, or NULL. */
const char *journal_lost(const struct journal *journal, const char *plan);

/* What an unfinished run measured. shape: a text without spaces that tells shapes apart. */
bool journal_known(const struct journal *journal, const char *shape, const char *plan, struct outcome *outcome);

/* Before a try, and after it; a try without result (the run was stopped) ends with NULL. */
void journal_try(struct journal *journal, const char *shape, const char *plan);
void journal_tried(struct journal *journal, const char *shape, const char *plan, const struct outcome *outcome);

/* The shape's record is in the store: what was measured for it is no longer needed. */
void journal_done(struct journal *journal, const char *shape);

/* Removes the files of dead runs. *lifted counts the plans that were in quarantine. IO. */
clayer_status journal_forget(const char *folder, const char *device, size_t *lifted);

#endif
