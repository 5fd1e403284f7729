/* libcurl's easy and multi interfaces; its variadic setters get one typed name for each argument type. */
#pragma once
#include <curl/curl.h>
