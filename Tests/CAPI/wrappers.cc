// kvstore.hpp: results, owned handles, lambdas as callbacks, exceptions that do not meet C.
#include "check.h"

extern "C" {
#include "fixture.h"
}

#include <kvstore.hpp>

#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace {

using kvstore::Client;
using kvstore::Decision;
using kvstore::Error;
using kvstore::Event;
using kvstore::Query;
using kvstore::Result;
using kvstore::Store;

int port;

// What a callback leaves for the thread that waits for it.
class TextSignal {
 public:
  void put(std::string_view text) {
    std::lock_guard<std::mutex> lock(mutex_);
    texts_ += text;
    changed_.notify_all();
  }
  // Waits until something has come that contains a word; gives everything that came.
  std::string wait_for(const char *word) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return texts_.find(word) != std::string::npos; });
    return texts_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string texts_;
};

Client local() { return Client(local_client(nullptr, "")); }
Store notes_of(const Client &client) { return *client.open_store("notes"); }

void a_program_saves_and_finds() {
  auto client = local();
  auto notes = notes_of(client);
  auto saved = notes.save(R"({"_id":"a","n":1})");
  REQUIRE(saved);
  CHECK(saved->view() == R"({"_id":"a","n":1})");
  CHECK(notes.save_many(R"([{"_id":"b","n":2},{"_id":"c","n":3}])")->is_partial() == false);
  auto query = Query::create(R"({"n":{"$gte":2}})", R"({"sort":{"n":-1}})");
  REQUIRE(query);
  std::string found;
  auto cursor = notes.find(*query);
  REQUIRE(cursor);
  CHECK(cursor->for_each([&](std::string_view entity) { found += entity; }));
  CHECK(found == R"({"_id":"c","n":3}{"_id":"b","n":2})");
  CHECK(*notes.find(Query())->next_page(2) == R"([{"_id":"a","n":1},{"_id":"b","n":2}])");
  CHECK(*notes.count({}) == 3);
  CHECK(notes.update(*query, R"({"$inc":{"n":10}})"));
  CHECK(*notes.remove_by_id(std::string("a")) == 1);
  CHECK(*notes.version(std::string_view("bcd").substr(0, 1)) > 0);
  CHECK(notes.distinct("n", {})->view() == "[12,13]");
  CHECK(Query::combine("or", {&*query, &*query})->json());
  CHECK(Query::from_format("n > %@", "[1]")->format());
}

void failures_are_values() {
  auto client = local();
  auto notes = notes_of(client);
  auto missing = notes.find_by_id("nobody");
  REQUIRE(!missing);
  CHECK(missing.error().status() == KV_NOT_FOUND);
  CHECK(std::string_view(missing.error().name()) == "KV_NOT_FOUND");
  CHECK(missing.error().json().find("\"status\":12") != std::string::npos);
  auto length = notes.find_by_id("nobody").transform([](kvstore::Text text) { return text.view().size(); });
  CHECK(!length && length.error().status() == KV_NOT_FOUND);
  CHECK(notes.save("{}").and_then([&](kvstore::Text) { return notes.count({}); }).value_or(-1) == 1);
  CHECK(!Client::open("{}"));
  CHECK(notes.pull({}).error().status() == KV_UNSUPPORTED);
  try {
    (void)notes.find_by_id("nobody").value();
    CHECK(false);
  } catch (const kvstore::BadResult &bad) {
    CHECK(bad.error().status() == KV_NOT_FOUND && bad.what() == bad.error().message());
  }
}

void ids_are_found_together() {
  auto client = local();
  auto notes = notes_of(client);
  CHECK(notes.save(R"({"_id":"a"})"));
  CHECK(notes.find_by_ids(R"(["b","a"])")->str() == R"([null,{"_id":"a"}])");
  auto request = notes.find_by_ids_async(R"(["a"])");
  REQUIRE(request);
  CHECK(notes.find_by_ids("[1]").error().status() == KV_INVALID);
}

void a_nul_does_not_cut_a_name() {
  auto client = local();
  auto notes = notes_of(client);
  CHECK(notes.save(R"({"_id":"a"})"));
  CHECK(notes.find_by_id(std::string("a\0b", 3)).error().status() == KV_INVALID);
  CHECK(notes.remove_by_id(std::string_view("a\0b", 3)).error().status() == KV_INVALID);
  CHECK(*notes.count({}) == 1);
}

void handles_have_one_owner() {
  auto client = local();
  auto notes = notes_of(client);
  Store moved = std::move(notes);
  CHECK(moved && !notes);
  CHECK(notes.save("{}").error().status() == KV_MISUSE);
  CHECK(moved.save("{}"));
  moved.close();
  CHECK(kvstore::live_objects("store") == 0 && kvstore::live_objects("client") == 1);
  CHECK(kvstore::has_feature("store") && kvstore::version_number() == KV_VERSION_NUMBER);
}

void callbacks_live_until_their_last_call() {
  auto client = local();
  auto notes = notes_of(client);
  auto signal = std::make_shared<TextSignal>();
  auto started = notes.save_async(R"({"_id":"a"})", [signal](const kvstore::Answer &answer) {
    signal->put(answer && answer.is_final() ? answer.json() : answer.error().message());
  });
  REQUIRE(started);
  CHECK(signal->wait_for("a") == R"({"_id":"a"})");
  CHECK(started->wait(20) && started->is_done());
  auto refused = notes.save_async(R"({"_id":)", [signal](const kvstore::Answer &) {});
  CHECK(refused || refused.error().status() == KV_INVALID);
  auto changes = notes.observe({}, [signal](const Event &event) { signal->put(event.json()); });
  REQUIRE(changes);
  CHECK(notes.save(R"({"_id":"second"})"));
  signal->wait_for("second");
  changes->close();
  client.close();
  CHECK(signal.use_count() == 1);
}

void a_find_may_be_waited_for() {
  auto client = local();
  auto notes = notes_of(client);
  CHECK(notes.save(R"({"_id":"a"})"));
  auto request = notes.find_async({});
  REQUIRE(request);
  CHECK(request->finish());
  auto cursor = request->cursor();
  REQUIRE(cursor);
  CHECK(**cursor->next() == R"({"_id":"a"})");
  CHECK(!*cursor->next());
  CHECK(request->progress());
  request->cancel();
}

void results_are_a_range() {
  auto client = local();
  auto notes = notes_of(client);
  CHECK(notes.save_many(R"([{"_id":"a","n":1},{"_id":"b","n":2},{"_id":"c","n":3}])"));
  auto results = notes.results(*Query::create("{}", R"({"sort":{"n":-1}})"), R"({"fetchBatchSize":1})");
  REQUIRE(results);
  CHECK(*results->count() == 3);
  CHECK((*results->get_record(2))->json == R"({"_id":"a","n":1})");
  CHECK(!*results->get_record(3));
  CHECK(*notes.remove_by_id("b") == 1);
  CHECK(notes.save(R"({"_id":"c","n":4})"));
  std::string seen;
  for (const kvstore::Record &record : *results) {
    seen += record.state == KV_RECORD_DELETED ? "-" : record.state == KV_RECORD_CHANGED ? "!" : "=";
    seen += record.json;
  }
  CHECK(seen == R"(!{"_id":"c","n":4}-null={"_id":"a","n":1})");
  std::size_t walked = 0;
  CHECK(results->for_each([&](const kvstore::Record &) { walked++; }));
  CHECK(walked == 3);
  CHECK(*results->page(1, 9) == R"([null,{"_id":"a","n":1}])");
  std::promise<std::string> told;
  auto following = results->observe([&](const kvstore::Event &event) { told.set_value(std::string(event.json())); });
  REQUIRE(following);
  CHECK(told.get_future().get() ==
        R"({"count":2,"deletions":[1],"moves":[],"insertions":[],"modifications":[0]})");
  CHECK(*results->count() == 2);
  CHECK(*results->page(0, 9) == R"([{"_id":"c","n":4},{"_id":"a","n":1}])");
  following->close();
  CHECK(results->refresh());
  CHECK(results->statistics()->view().find("\"reads\":5") != std::string_view::npos);
  auto request = notes.results_async({});
  REQUIRE(request);
  CHECK(request->finish());
  CHECK(*request->results()->count() == 2);
}

void transactions_commit_or_leave_nothing() {
  auto client = local();
  auto notes = notes_of(client);
  CHECK(client.transact([&](const kvstore::TransactionCalls &calls) -> Result<void> {
    auto saved = calls.save(notes, R"({"_id":"a"})");
    if (!saved) return saved.error();
    return {};
  }));
  auto refused = client.transact([&](const kvstore::TransactionCalls &calls) -> Result<void> {
    CHECK(calls.remove_by_id(notes, "a"));
    return Error(KV_INVALID, "not today");
  });
  CHECK(!refused && refused.error().message() == "not today");
  CHECK(*notes.count({}) == 1);
  auto step = client.begin();
  REQUIRE(step);
  CHECK(step->calls().update(notes, {}, R"({"$set":{"n":1}})"));
  CHECK(*step->calls().count(notes, {}) == 1);
  CHECK(step->commit());
  CHECK(notes.find_by_id("a")->str() == R"({"_id":"a","n":1})");
}

void a_context_saves_all_or_nothing() {
  auto client = local();
  auto notes = notes_of(client);
  CHECK(notes.save(R"({"_id":"a","n":1})"));
  auto context = client.context();
  REQUIRE(context);
  CHECK(context->update("notes", "a", R"({"n":2})"));
  CHECK(context->insert("notes", R"({"_id":"b"})"));
  CHECK(notes.save(R"({"_id":"a","n":3})"));
  auto refused = context->save();
  CHECK(!refused && refused.error().status() == KV_CONFLICT && *notes.count({}) == 1);
  int decided = 0;
  CHECK(context->save([&](std::string_view conflict) {
    decided++;
    CHECK(conflict.find(R"("stored":{"_id":"a","n":3})") != std::string_view::npos);
    CHECK(context->resolve("notes", "a", R"({"use":"merged","object":{"_id":"a","n":5}})"));
  }));
  CHECK(decided == 1 && *notes.count({}) == 2);
  CHECK(notes.find_by_id("a")->str() == R"({"_id":"a","n":5})");
}

void exceptions_pass_by_c() {
  auto client = local();
  auto notes = notes_of(client);
  CHECK(notes.save(R"({"_id":"a"})"));
  try {
    (void)client.transact([&](const kvstore::TransactionCalls &calls) -> Result<void> {
      CHECK(calls.remove_by_id(notes, "a"));
      throw std::runtime_error("transaction");
    });
    CHECK(false);
  } catch (const std::runtime_error &thrown) {
    CHECK(std::string_view(thrown.what()) == "transaction");
  }
  CHECK(*notes.count({}) == 1);
  try {
    (void)notes.reduce({}, {}, [](std::size_t, std::string_view) -> bool { throw std::runtime_error("reduce"); });
    CHECK(false);
  } catch (const std::runtime_error &thrown) {
    CHECK(std::string_view(thrown.what()) == "reduce");
  }
  std::size_t count = 0;
  CHECK(notes.reduce({}, {}, [&](std::size_t, std::string_view) { return ++count > 0; }));
  CHECK(count == 1);
}

void conflicts_are_decided_by_a_lambda() {
  Client client(server_client(port, nullptr, ""));
  CHECK(client.signup(R"({"username":"wrappers","password":"p"})"));
  auto notes = notes_of(client);
  auto network = *client.open_store("notes", "network");
  CHECK(notes.save(R"({"_id":"a","n":1})") && notes.sync({}));
  auto seen = std::make_shared<std::string>();
  CHECK(notes.set_conflict_handler([seen](const kvstore::Conflict &conflict) {
    *seen = conflict.id;
    return Decision::merged(R"({"n":5})");
  }));
  CHECK(network.save(R"({"_id":"a","n":2})"));
  CHECK(notes.save(R"({"_id":"a","n":3})"));
  CHECK(*notes.sync_count() == 1);
  CHECK(notes.push());
  CHECK(*seen == "a");
  CHECK(network.find_by_id("a")->view().find("\"n\":5") != std::string_view::npos);
  CHECK(notes.remove_conflict_handler());
  CHECK(*client.user_exists("wrappers") && client.active_user());
  CHECK(client.logout());
  client.close();
  CHECK(seen.use_count() == 1);
}

void every_template_compiles() {
  auto client = local();
  auto notes = notes_of(client);
  CHECK(client.set_log(1, [](std::int32_t, std::string_view) {}) && client.remove_log());
  auto refused = client.set_token_provider(
      [](const kvstore::TokenRequest &request) { return std::optional<std::string>(request.provider); });
  CHECK(!refused && refused.error().status() == KV_UNSUPPORTED);
  CHECK(client.observe_status([](const Event &) {}) && client.observe_sync([](const Event &) {}));
  CHECK(notes.observe_by_id("a", [](const Event &) {}));
  CHECK(!notes.follow({}, [](const Event &) {}));
  CHECK(!notes.subscribe({}));
  CHECK(!client.subscribe_stream("s", nullptr, {}));
  auto sizes = client.compact();
  CHECK(sizes && sizes->view().find("\"after\":") != std::string_view::npos);
  CHECK(client.compact_async()->wait());
  const std::string copies = fresh_directory();
  auto copied = client.backup(copies + "/one");
  CHECK(copied && copied->view().find("\"tags\":[") != std::string_view::npos);
  CHECK(client.backup_async(copies + "/two")->wait());
  CHECK(client.backup(copies + "/one").error().status() == KV_CONFLICT);
  auto damage = client.repair();
  CHECK(damage && damage->view().find("\"damaged\":0") != std::string_view::npos);
  auto changes = notes.observe({}, [](const Event &) {});
  CHECK(changes && changes->end() && changes->end_async()->wait());
  CHECK(client.status() && notes.pending() && notes.indexes() && notes.explain({}));
  CHECK(!client.lookup_users(R"({"username":"a"})") && !client.groups() && !client.read_group("g"));
  CHECK(!client.create_group("{}") && !client.update_group("g", "{}") && !client.delete_group("g"));
  CHECK(!notes.share("a", "{}") && !notes.unshare("a", "{}"));
  CHECK(!client.ping() && !client.user_exists_async("a")->wait());
  CHECK(!client.start_sync() && client.stop_sync() && client.set_sync_expression("notes", "{}"));
  CHECK(client.clear(true));
}

// One collection of records in memory, which answers on a thread of its own.
class Memory : public kvstore::Backend {
 public:
  explicit Memory(bool &is_gone) : is_gone_(is_gone) {}
  ~Memory() override { is_gone_ = true; }

  void fetch(kvstore::BackendRequest request, std::string_view) override {
    std::lock_guard<std::mutex> lock(mutex_);
    std::string answer = "{\"records\":[" + record_ + "]}";
    std::thread([request, answer] { CHECK(request.complete(answer)); }).join();
    CHECK(request.complete(answer).error().status() == KV_NOT_FOUND);
  }

  void fetch_ids(kvstore::BackendRequest request, std::string_view) override {
    CHECK(request.fail(KV_SERVER, "{\"message\":\"Not now.\"}"));
  }

  // Every write is one of one record.
  void write(kvstore::BackendRequest request, std::string_view json) override {
    auto start = json.find("\"record\":");
    CHECK(start != std::string_view::npos);
    start += 9;
    std::lock_guard<std::mutex> lock(mutex_);
    record_ = json.substr(start, json.find('}', start) + 1 - start);
    CHECK(request.complete("{\"results\":[{\"stored\":" + record_ + "}]}"));
  }

  std::string record() {
    std::lock_guard<std::mutex> lock(mutex_);
    return record_;
  }

 private:
  std::mutex mutex_;
  std::string record_;
  bool &is_gone_;
};

Client client_of_memory() {
  return std::move(*Client::open(std::string(R"({"appKey":"kid","backend":"memory","retries":0,"dataDirectory":")") +
                                 fresh_directory() + "\"}"));
}

void a_backend_is_a_class() {
  bool is_gone = false;
  auto memory = std::make_shared<Memory>(is_gone);
  CHECK(kvstore::register_backend("memory", memory));
  CHECK(kvstore::register_backend("memory", memory).error().status() == KV_CONFLICT);
  CHECK(kvstore::register_backend("nothing", nullptr).error().status() == KV_INVALID);
  CHECK(kvstore::register_backend("other", memory, "[]").error().status() == KV_INVALID);
  {
    Client one = client_of_memory(), other = client_of_memory();
    Store ours = std::move(*one.open_store("notes")), theirs = std::move(*other.open_store("notes"));
    CHECK(ours.save(R"({"_id":"a","text":"milk"})"));
    auto pushed = ours.push();
    CHECK(pushed && pushed->view().find("\"pushed\":1") != std::string_view::npos);
    CHECK(memory->record().find("milk") != std::string::npos);
    CHECK(theirs.pull({}));
    CHECK(theirs.find_by_id("a")->view().find("milk") != std::string_view::npos);
    auto refused = theirs.find_by_id("a", R"({"readPolicy":"forceNetwork"})");
    CHECK(!refused && refused.error().status() == KV_SERVER && refused.error().message().find("Not now.") != std::string::npos);
    CHECK(theirs.subscribe({}).error().status() == KV_UNSUPPORTED);
  }
  CHECK(kvstore::unregister_backend("memory"));
  CHECK(kvstore::unregister_backend("memory").error().status() == KV_NOT_FOUND);
  memory.reset();
  CHECK(is_gone);
}

// Keeps one record, which a save replaces.
class Cell : public kvstore::CustomStore {
 public:
  void load(kvstore::BackendRequest request, std::string_view) override {
    CHECK(request.complete(R"({"type":"cell","uuid":"cell-1"})"));
  }
  void fetch(kvstore::BackendRequest request, std::string_view) override {
    CHECK(request.complete(R"({"records":[{"_id":"a","text":"milk"}]})"));
  }
  void values(kvstore::BackendRequest request, std::string_view json) override { fetch(request, json); }
  void save(kvstore::BackendRequest request, std::string_view) override { CHECK(request.complete("{}")); }
};

void a_store_is_a_class() {
  CHECK(kvstore::register_store("cell", std::make_shared<Cell>()));
  CHECK(kvstore::register_store("nothing", nullptr).error().status() == KV_INVALID);
  {
    Client client = std::move(*Client::open(std::string(R"({"appKey":"kid","store":"cell","dataDirectory":")") +
                                            fresh_directory() + "\"}"));
    Store notes = std::move(*client.open_store("notes"));
    CHECK(notes.save(R"({"_id":"a","text":"eggs"})"));
    CHECK(notes.find_by_id("a")->view().find("milk") != std::string_view::npos);
  }
  CHECK(kvstore::unregister_store("cell"));
  CHECK(kvstore::unregister_store("cell").error().status() == KV_NOT_FOUND);
}

void a_migration_is_a_lambda() {
  const std::string start = R"({"appKey":"kid","dataDirectory":")" + std::string(fresh_directory()) + R"(","schema":")";
  {
    Client client = std::move(*Client::open(start + R"(type Post @model { title: String! }"})"));
    CHECK(client.open_store("Post")->save(R"({"id":"a","title":"milk"})"));
  }
  const std::string options = start + R"(type Post @model { title: String! size: Int! }","onSchemaChange":{"handler":"sizes"}})";
  std::string given;
  int calls = 0;
  CHECK(kvstore::register_migration("sizes", [&](const kvstore::MigratingRecord &record) {
    given = std::string(record.former_model) + record.model.data() + record.id.data() + record.record.data();
    calls += 1;
    if (calls == 1) return kvstore::Migrated::failure("no size");
    if (calls == 2) return kvstore::Migrated::by_rules();
    return kvstore::Migrated::record(R"({"title":"milk","size":4})");
  }));
  CHECK(std::string(Client::open(options).error().message()).find("handler failed: no size") != std::string::npos);
  CHECK(given == R"(PostPosta{"id":"a","title":"milk"})");
  CHECK(std::string(Client::open(options).error().message()).find("Post.size is required") != std::string::npos);
  Client client = std::move(*Client::open(options));
  CHECK(client.open_store("Post")->find_by_id("a")->view() == R"({"title":"milk","size":4,"id":"a"})");
  CHECK(kvstore::unregister_migration("sizes"));
  CHECK(kvstore::unregister_migration("sizes").error().status() == KV_NOT_FOUND);
}

void a_key_provider_is_a_lambda() {
  const std::string options = R"({"appKey":"kid","host":null,"dataDirectory":")" + std::string(fresh_directory()) + R"(")";
  const std::string provided = options + R"(,"encryptionKey":{"provider":"paper"}})";
  int calls = 0;
  CHECK(kvstore::set_key_provider("paper", [&](std::string_view directory) {
    CHECK(!directory.empty());
    calls += 1;
    return kvstore::ProvidedKey::passphrase("correct horse");
  }));
  {
    Client client = std::move(*Client::open(provided));
    CHECK(client.open_store("notes")->save(R"({"_id":"a"})"));
    CHECK(calls == 1);
    CHECK(client.change_key(R"({"passphrase":"another"})")->view() == R"({"keys":["main"]})");
  }
  const std::string keyed = options + R"(,"encryptionKey":{"passphrase":"another"}})";
  const std::string saved = std::string(fresh_directory()) + "/saved";
  CHECK(kvstore::salvage(keyed, saved));
  CHECK(kvstore::decrypt_file(keyed, saved + "/pending.ndjson.encrypted", -1).error().status() == KV_STORAGE);
  CHECK(kvstore::decrypt_file(keyed, saved + "/nothing", -1).error().status() == KV_NOT_FOUND);
  CHECK(kvstore::remove_key_provider("paper"));
  CHECK(Client::open(provided).error().status() == KV_INVALID);
  CHECK(kvstore::encrypt(options + R"(,"encryptionKey":{"passphrase":"another"}})"));
  Client client = std::move(*Client::open(options + "}"));
  CHECK(client.open_store("notes")->find_by_id("a"));
}

void a_schema_is_described() {
  CHECK(kvstore::describe_schema("type Post @model { id: ID! title: String }")->view().find("\"Post\"") !=
        std::string_view::npos);
  CHECK(kvstore::describe_schema("type Post").error().status() == KV_INVALID);
}

}  // namespace

int main() {
  port = start_server();
  RUN("a program saves and finds", a_program_saves_and_finds);
  RUN("failures are values", failures_are_values);
  RUN("ids are found together", ids_are_found_together);
  RUN("a NUL does not cut a name", a_nul_does_not_cut_a_name);
  RUN("handles have one owner", handles_have_one_owner);
  RUN("callbacks live until their last call", callbacks_live_until_their_last_call);
  RUN("a find may be waited for", a_find_may_be_waited_for);
  RUN("results are a range", results_are_a_range);
  RUN("transactions commit or leave nothing", transactions_commit_or_leave_nothing);
  RUN("a context saves all or nothing", a_context_saves_all_or_nothing);
  RUN("exceptions pass by C", exceptions_pass_by_c);
  RUN("conflicts are decided by a lambda", conflicts_are_decided_by_a_lambda);
  RUN("a backend is a class", a_backend_is_a_class);
  RUN("a store is a class", a_store_is_a_class);
  RUN("a migration is a lambda", a_migration_is_a_lambda);
  RUN("a key provider is a lambda", a_key_provider_is_a_lambda);
  RUN("a schema is described", a_schema_is_described);
  RUN("every template compiles", every_template_compiles);
  stop_server();
  return finish();
}
