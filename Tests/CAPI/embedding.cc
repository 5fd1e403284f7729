// The header from C++: RAII around handles, a lambda as callback.
#include "check.h"

extern "C" {
#include "fixture.h"
}

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

namespace {

struct Free {
  void operator()(kv_client *client) const { kv_client_close(client); }
  void operator()(kv_store *store) const { kv_store_close(store); }
  void operator()(kv_cursor *cursor) const { kv_cursor_close(cursor); }
  void operator()(kv_query *query) const { kv_query_free(query); }
  void operator()(char *text) const { kv_free(text); }
};
template <typename T>
using Owned = std::unique_ptr<T, Free>;

void handles_are_owned() {
  Owned<kv_client> client(local_client(nullptr, ""));
  Owned<kv_store> store(opened_store(client.get(), "things", "sync"));
  const std::string entity = R"({"_id":"a","words":["große","Wörter"]})";
  OK(kv_store_save(store.get(), entity.data(), entity.size(), nullptr, nullptr, nullptr, &error));
  char *found = nullptr;
  std::size_t length = 0;
  OK(kv_store_find_by_id(store.get(), "a", nullptr, &found, &length, &error));
  Owned<char> text(found);
  CHECK(entity == std::string(text.get(), length));
}

struct Waiter {
  std::mutex mutex;
  std::condition_variable changed;
  std::string json;
  bool is_done = false;
};

void callbacks_are_lambdas() {
  Owned<kv_client> client(local_client(nullptr, ""));
  Owned<kv_store> store(opened_store(client.get(), "things", "sync"));
  auto waiter = std::make_shared<Waiter>();
  OK(kv_store_save_async(
      store.get(), "{\"_id\":\"a\"}", KV_NUL_TERMINATED, nullptr,
      [](void *context, const kv_answer *answer) {
        Waiter &waiter = **static_cast<std::shared_ptr<Waiter> *>(context);
        std::lock_guard<std::mutex> lock(waiter.mutex);
        waiter.json.assign(answer->json, answer->length);
        waiter.is_done = answer->is_final != 0;
        waiter.changed.notify_all();
      },
      new std::shared_ptr<Waiter>(waiter),
      [](void *context) { delete static_cast<std::shared_ptr<Waiter> *>(context); }, nullptr, &error));
  std::unique_lock<std::mutex> lock(waiter->mutex);
  waiter->changed.wait(lock, [&] { return waiter->is_done; });
  CHECK(waiter->json == "{\"_id\":\"a\"}");
}

}  // namespace

int main() {
  RUN("C++ owns handles with unique_ptr", handles_are_owned);
  RUN("C++ gives lambdas as callbacks", callbacks_are_lambdas);
  return finish();
}
