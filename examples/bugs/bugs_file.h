// A store that keeps the records of all collections in one JSON file, DIRECTORY/bugs.json.
#ifndef BUGS_FILE_H
#define BUGS_FILE_H

#include <kvstore.h>

// Registers the type of stores "bugs-file" for this process.
kv_status bugs_file_register(kv_error **error_out);

#endif
