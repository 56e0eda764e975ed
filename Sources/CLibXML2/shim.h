#pragma once

// Debian's libxml2 is built with ICU, whose headers conflict with those of Foundation. They are not needed here.
#include <libxml/xmlversion.h>
#undef LIBXML_ICU_ENABLED

#include <libxml/HTMLparser.h>
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <libxml/xmlwriter.h>
#include <libxml/xpath.h>

/// Calls `xmlFree`, a mutable global function pointer that Swift 6 cannot access.
static inline void clibxml2_free(void *pointer) { xmlFree(pointer); }
