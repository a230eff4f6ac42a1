#include "api/access.h"

#include <gtest/gtest.h>

#include <memory>

namespace culvert::api {
namespace {

class Access : public ::testing::Test {
 protected:
  int check(std::string_view fields, std::string_view query = "", bool upgrade = false,
            std::string_view method = "GET") {
    parse(fields, method);
    return check_access(*head_, query, upgrade, rules());
  }
  std::string cors(std::string_view fields, std::string_view method = "GET") {
    parse(fields, method);
    return cors_fields(*head_, rules());
  }
  std::string secret;
  std::vector<std::string> origins{"*"};
  bool private_network = true;

 private:
  [[nodiscard]] AccessRules rules() const { return {secret, &origins, private_network}; }
  void parse(std::string_view fields, std::string_view method) {
    text_ = std::string(method) + " / HTTP/1.1\r\n" + std::string(fields) + "\r\n";
    *head_ = {};
    ASSERT_EQ(wire::parse_request_head(as_bytes(text_), *head_), wire::HttpError::kNone);
  }
  std::string text_;
  std::unique_ptr<wire::HttpHead> head_ = std::make_unique<wire::HttpHead>();
};

TEST_F(Access, TheSecretInTheHeader) {
  secret = "p+w%/\xc3\xa9";
  EXPECT_EQ(check("Authorization: Bearer p+w%/\xc3\xa9\r\n"), 0);
  EXPECT_EQ(check("Authorization: bearer p+w%/\xc3\xa9\r\n"), 0);
  EXPECT_EQ(check("AUTHORIZATION: BEARER p+w%/\xc3\xa9\r\n"), 0);
  for (const std::string_view fields :
       {"", "Authorization: Bearer\r\n", "Authorization: Bearer wrong\r\n",
        "Authorization: Bearer p+w%/\r\n", "Authorization: Bearer p+w%/\xc3\xa9x\r\n",
        "Authorization: Bearer P+W%/\xc3\xa9\r\n", "Authorization: Bearer p%2Bw%25%2F%C3%A9\r\n",
        "Authorization: p+w%/\xc3\xa9\r\n", "Authorization: Basic p+w%/\xc3\xa9\r\n",
        "Authorization:\r\n", "X: Bearer p+w%/\xc3\xa9\r\n"}) {
    EXPECT_EQ(check(fields), 401) << fields;
  }
}

// K32.
TEST_F(Access, TheTokenCountsForUpgradesOnlyAndIsDecodedOnce) {
  secret = "p+w%/\xc3\xa9";
  const std::string_view good = "token=p%2Bw%25%2F%C3%A9";
  EXPECT_EQ(check("", good, true), 0);
  EXPECT_EQ(check("", good, false), 401);
  EXPECT_EQ(check("", "token=p%252Bw%2525%252F%25C3%25A9", true), 401);
  EXPECT_EQ(check("", "token=p+w%25%2F%C3%A9", true), 401) << "a plus is a space there";
  EXPECT_EQ(check("", "token=", true), 401);
  EXPECT_EQ(check("", "", true), 401);
  EXPECT_EQ(check("Authorization: Bearer p+w%/\xc3\xa9\r\n", "", true), 0);
  EXPECT_EQ(check("Authorization: Bearer p+w%/\xc3\xa9\r\n", "token=wrong", true), 401);
}

TEST_F(Access, WithASecretHostAndOriginAreFree) {
  secret = "s";
  EXPECT_EQ(
      check("Authorization: Bearer s\r\nHost: evil.example\r\nOrigin: http://evil.example\r\n", "",
            false, "PUT"),
      0);
}

TEST_F(Access, WithoutASecretHostIsAnAddressOrLocalhost) {
  for (const std::string_view host :
       {"localhost", "LOCALHOST:9090", "127.0.0.1", "127.0.0.1:9090", "[::1]", "[::1]:9090",
        "192.0.2.1:9090", "[2001:db8::1]:9090"}) {
    EXPECT_EQ(check("Host: " + std::string(host) + "\r\n"), 0) << host;
  }
  for (const std::string_view host :
       {"evil.example", "evil.example:9090", "localhost.evil.example", "127.0.0.1.evil.example", "",
        "127.0.0.1@evil.example", "::1", "evil.example:127.0.0.1"}) {
    EXPECT_EQ(check("Host: " + std::string(host) + "\r\n"), 403) << host;
  }
  EXPECT_EQ(check(""), 403) << "no Host at all";
}

TEST_F(Access, WithoutASecretAForeignPageChangesNothing) {
  const std::string host = "Host: 127.0.0.1:9090\r\n";
  const std::string foreign = host + "Origin: https://evil.example\r\n";
  const std::string known = host + "Origin: https://yacd.metacubex.one\r\n";
  const std::string local = host + "Origin: http://127.0.0.1:8000\r\n";
  EXPECT_EQ(check(foreign), 0) << "it may ask, but CORS lets it read nothing";
  for (const std::string_view method : {"PUT", "PATCH", "POST", "DELETE"}) {
    EXPECT_EQ(check(foreign, "", false, method), 403) << method;
    EXPECT_EQ(check(host + "Origin: null\r\n", "", false, method), 403) << method;
    EXPECT_EQ(check(known, "", false, method), 0) << method;
    EXPECT_EQ(check(local, "", false, method), 0) << method;
    EXPECT_EQ(check(host, "", false, method), 0) << "no page at all";
  }
  EXPECT_EQ(check(foreign, "", true), 403) << "a WebSocket is not bound by CORS";
  EXPECT_EQ(check(known, "", true), 0);
}

TEST_F(Access, Cors) {
  const auto allowed = [&](std::string_view origin) {
    const std::string all = cors("Origin: " + std::string(origin) + "\r\n");
    EXPECT_EQ(all.substr(0, 14), "Vary: Origin\r\n");
    const std::string name = "Access-Control-Allow-Origin: ";
    const size_t at = all.find(name);
    if (at == std::string::npos) return std::string();
    return all.substr(at + name.size(), all.find('\r', at) - at - name.size());
  };
  // "*" without a secret: this host's pages and the known dashboards.
  EXPECT_EQ(allowed("https://yacd.metacubex.one"), "https://yacd.metacubex.one");
  EXPECT_EQ(allowed("http://localhost:3000"), "http://localhost:3000");
  EXPECT_EQ(allowed("http://[::1]:3000"), "http://[::1]:3000");
  for (const std::string_view foreign :
       {"https://evil.example", "null", "http://localhost.evil.example",
        "http://127.0.0.1.evil.example", "https://yacd.metacubex.one.evil.example",
        "http://192.0.2.1", "file://", "http://localhost/x"}) {
    EXPECT_EQ(allowed(foreign), "") << foreign;
  }
  // With a secret "*" is everybody.
  secret = "s";
  EXPECT_EQ(allowed("https://any.example"), "*");
  // A list of origins is taken at its word.
  origins = {"https://My.example"};
  EXPECT_EQ(allowed("https://my.example"), "https://my.example");
  EXPECT_EQ(allowed("https://any.example"), "");
  secret.clear();
  EXPECT_EQ(allowed("https://yacd.metacubex.one"), "");
  EXPECT_EQ(cors(""), "Vary: Origin\r\n");
}

TEST_F(Access, Preflight) {
  const std::string ask =
      "Access-Control-Request-Method: PUT\r\nAccess-Control-Request-Private-Network: true\r\n";
  const std::string local = "Origin: http://localhost\r\n" + ask;
  const auto has = [](const std::string& fields, std::string_view what) {
    return fields.find(what) != std::string::npos;
  };
  std::string got = cors(local, "OPTIONS");
  EXPECT_TRUE(has(got, "Access-Control-Allow-Origin: http://localhost\r\n"));
  EXPECT_TRUE(has(got, "Access-Control-Allow-Methods: GET, POST, PUT, PATCH, DELETE\r\n"));
  EXPECT_TRUE(has(got, "Access-Control-Allow-Headers: Content-Type, Authorization\r\n"));
  EXPECT_TRUE(has(got, "Access-Control-Allow-Private-Network: true\r\n"));
  EXPECT_FALSE(has(cors(local, "GET"), "Allow-Methods")) << "no preflight";
  EXPECT_FALSE(has(cors("Origin: http://localhost\r\n", "OPTIONS"), "Allow-Methods"));
  private_network = false;
  EXPECT_FALSE(has(cors(local, "OPTIONS"), "Private-Network"));
  private_network = true;
  for (const std::string origin : {"https://evil.example", "null"}) {
    got = cors("Origin: " + origin + "\r\n" + ask, "OPTIONS");
    EXPECT_FALSE(has(got, "Access-Control")) << origin;
  }
}

TEST_F(Access, SameSecret) {
  EXPECT_TRUE(same_secret("abc", "abc"));
  EXPECT_TRUE(same_secret("", ""));
  for (const std::string_view offered : {"", "ab", "abcd", "abcabc", "abC", "xbc"}) {
    EXPECT_FALSE(same_secret(offered, "abc")) << offered;
  }
  EXPECT_FALSE(same_secret("abc", ""));
  EXPECT_FALSE(same_secret(std::string_view("\0", 1), ""));
}

}  // namespace
}  // namespace culvert::api
