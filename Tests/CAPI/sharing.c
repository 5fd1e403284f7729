/* Finding users, groups of users, and sharing entities with them, against a real server. */
#include "check.h"
#include "fixture.h"

static int port;
/* Ada shares; Ben is whom she shares with. */
static kv_client *ada, *ben;
static char ben_id[64];

/* Copies what follows `"name":"` in some JSON. */
static void member(const char *json, const char *name, char *value, size_t size) {
  char head[32];
  snprintf(head, sizeof head, "\"%s\":\"", name);
  const char *start = json ? strstr(json, head) : NULL;
  snprintf(value, size, "%s", start ? start + strlen(head) : "");
  value[strcspn(value, "\"")] = '\0';
}

static void open_clients(void) {
  char *user = NULL;
  ada = server_client(port, NULL, "");
  ben = server_client(port, NULL, "");
  OK(kv_user_signup(ada, NULL, 0, NULL, NULL, NULL, &error));
  OK(kv_user_signup(ben, NULL, 0, NULL, &user, NULL, &error));
  member(user, "_id", ben_id, sizeof ben_id);
  kv_free(user);
}

static void close_clients(void) {
  OK(kv_client_close(ada));
  OK(kv_client_close(ben));
}

static void finds_users(void) {
  char name[64], wanted[128], *json = NULL;
  open_clients();
  OK(kv_user_active(ben, &json, NULL, &error));
  member(json, "username", name, sizeof name);
  kv_free(json);
  snprintf(wanted, sizeof wanted, "{\"username\":\"%s\"}", name);
  OK(kv_user_lookup(ada, wanted, KV_NUL_TERMINATED, NULL, &json, NULL, &error));
  CHECK(json && strstr(json, ben_id) && !strstr(json, "authtoken"));
  kv_free(json);
  OK(kv_user_lookup(ada, "{\"_id\":\"nobody\"}", KV_NUL_TERMINATED, NULL, &json, NULL, &error));
  TEXT("[]", json);
  kv_free(json);
  FAILS(KV_INVALID, "listing all users is not possible",
        kv_user_lookup(ada, "{}", KV_NUL_TERMINATED, NULL, &json, NULL, &error));
  STATUS(KV_INVALID, kv_user_lookup(ada, "{\"username\":{\"$ne\":\"\"}}", KV_NUL_TERMINATED, NULL,
                                    &json, NULL, &error));
  close_clients();
}

/* A group of Ada's with Ben in it. */
static void make_group(char *id, size_t size) {
  char text[128], *json = NULL;
  snprintf(text, sizeof text, "{\"name\":\"team\",\"members\":[\"%s\"]}", ben_id);
  OK(kv_group_create(ada, text, KV_NUL_TERMINATED, NULL, &json, NULL, &error));
  member(json, "_id", id, size);
  kv_free(json);
}

static void groups_come_and_go(void) {
  char id[64], *json = NULL;
  open_clients();
  make_group(id, sizeof id);
  OK(kv_group_update(ada, id, "{\"add\":[\"cleo\"],\"set\":{\"name\":\"crew\"}}",
                     KV_NUL_TERMINATED, NULL, NULL, NULL, &error));
  OK(kv_group_read(ada, id, NULL, &json, NULL, &error));
  CHECK(json && strstr(json, "\"name\":\"crew\"") && strstr(json, ",\"cleo\"]"));
  kv_free(json);
  OK(kv_group_list(ada, NULL, &json, NULL, &error));
  CHECK(json && strstr(json, id));
  kv_free(json);
  STATUS(KV_FORBIDDEN, kv_group_read(ben, id, NULL, &json, NULL, &error));
  FAILS(KV_INVALID, "ad", kv_group_update(ada, id, "{\"ad\":[]}", KV_NUL_TERMINATED, NULL, NULL,
                                          NULL, &error));
  FAILS(KV_INVALID, "members", kv_group_update(ada, id, "{\"set\":{\"members\":[]}}",
                                               KV_NUL_TERMINATED, NULL, NULL, NULL, &error));
  OK(kv_group_delete(ada, id, NULL, &error));
  STATUS(KV_NOT_FOUND, kv_group_read(ada, id, NULL, &json, NULL, &error));
  close_clients();
}

/* Shares with these, pushes, and looks whether Ben may read; then takes it back. */
static void is_shared(kv_store *mine, kv_store *theirs, const char *with) {
  char *json = NULL;
  OK(kv_store_share(mine, "n1", with, KV_NUL_TERMINATED, NULL, &error));
  OK(kv_store_push(mine, NULL, NULL, NULL, &error));
  OK(kv_store_find_by_id(theirs, "n1", NULL, &json, NULL, &error));
  kv_free(json);
  OK(kv_store_unshare(mine, "n1", with, KV_NUL_TERMINATED, NULL, &error));
  OK(kv_store_push(mine, NULL, NULL, NULL, &error));
  STATUS(KV_FORBIDDEN, kv_store_find_by_id(theirs, "n1", NULL, &json, NULL, &error));
}

static void entities_are_shared(void) {
  char group[64], acl[256];
  open_clients();
  make_group(group, sizeof group);
  kv_store *mine = opened_store(ada, "shared", "sync");
  kv_store *theirs = opened_store(ben, "shared", "network");
  saved(mine, "{\"_id\":\"n1\",\"_acl\":{\"gr\":false}}");
  snprintf(acl, sizeof acl, "{\"r\":[\"%s\"]}", ben_id);
  is_shared(mine, theirs, acl);
  snprintf(acl, sizeof acl, "{\"w\":[\"%s\"]}", ben_id);
  is_shared(mine, theirs, acl);
  snprintf(acl, sizeof acl, "{\"groups\":{\"r\":[\"%s\"],\"w\":[\"%s\"]}}", group, group);
  is_shared(mine, theirs, acl);
  is_shared(mine, theirs, "{\"gr\":true,\"gw\":true}");
  OK(kv_store_close(mine));
  OK(kv_store_close(theirs));
  close_clients();
}

static void refuses_what_names_nobody(void) {
  kv_client *client = local_client(NULL, "");
  kv_store *store = opened_store(client, "notes", "sync");
  saved(store, "{\"_id\":\"n1\"}");
  static const char *const wrong[][2] = {
      {"{}", "names no user"},
      {"{\"r\":[]}", "names no user"},
      {"{\"r\":\"ada\"}", "_acl.r "},
      {"{\"groups\":{\"w\":[1]}}", "_acl.groups.w"},
      {"{\"groups\":[]}", "_acl.groups"},
      {"{\"groups\":{\"x\":[]}}", "\"x\""},
      {"{\"gr\":false}", "_acl.gr"},
      {"{\"creator\":\"ada\"}", "\"creator\""},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    FAILS(KV_INVALID, wrong[i][1],
          kv_store_share(store, "n1", wrong[i][0], KV_NUL_TERMINATED, NULL, &error));
    FAILS(KV_INVALID, wrong[i][1],
          kv_store_unshare(store, "n1", wrong[i][0], KV_NUL_TERMINATED, NULL, &error));
  }
  STATUS(KV_NOT_FOUND,
         kv_store_share(store, "n2", "{\"gr\":true}", KV_NUL_TERMINATED, NULL, &error));
  STATUS(KV_INVALID, kv_store_share(store, "", "{\"gr\":true}", KV_NUL_TERMINATED, NULL, &error));
  OK(kv_store_close(store));
  OK(kv_client_close(client));
}

int main(void) {
  port = start_server();
  RUN("users are found by name and id, and nobody lists all", finds_users);
  RUN("groups are made, changed, listed and deleted", groups_come_and_go);
  RUN("entities are shared with users, groups and everybody, and unshared", entities_are_shared);
  RUN("sharing with nobody, or by what is no access list, is refused", refuses_what_names_nobody);
  return finish();
}
