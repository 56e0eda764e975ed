#pragma once

// Debian's libxml2 is built with ICU, whose headers clash with those that Foundation brings. Nothing here needs them.
#include <libxml/xmlversion.h>
#undef LIBXML_ICU_ENABLED

#include <libxml/HTMLparser.h>
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <libxml/xmlwriter.h>
#include <libxml/xpath.h>

/// `xmlFree` is a mutable global, which Swift 6 refuses to touch: this is the same call behind a function.
static inline void clibxml2_free(void *pointer) { xmlFree(pointer); }
