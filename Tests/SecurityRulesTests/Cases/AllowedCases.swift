extension RuleCase {
    private static let owned = ["notes/n": #"{"owner": "u1"}"#]
    private static let verified = TestUser(uid: "u1", claims: #"{"email": "a@example.org", "email_verified": true}"#)
    private static let tenant = TestUser(uid: "u1", claims: #"{"tenant": "a"}"#)
    private static let invited = TestUser(uid: "u1", claims: #"{"email": "a@example.org"}"#)
    private static let room = ["rooms/r": #"{"members": ["u1"]}"#, "rooms/r/msgs/m": "{}"]

    /// The cases that are allowed.
    static let allowed: [RuleCase] = [
        RuleCase(1, 1, .get("notes/n"), by: .u1, with: owned),
        RuleCase(2, 1, .set("notes/m", #"{"owner": "u1"}"#), by: .u1),
        RuleCase(3, 1, .merge("notes/n", #"{"owner": "u2"}"#), by: .u1, with: owned),
        RuleCase(8, 2, .get("users/u1"), with: ["users/u1": "{}"]),
        RuleCase(9, 2, .list(TestQuery("users"))),
        RuleCase(10, 2, .set("users/u1", #"{"name": "a"}"#), by: .u1),
        RuleCase(13, 3, .set("posts/p", "{}"), by: .u1, with: ["users/u1": #"{"role": "editor"}"#]),
        RuleCase(17, 4, .get("files/f"), by: .u1, with: ["files/f": #"{"roles": {"u1": "reader"}}"#]),
        RuleCase(20, 5, .set("admin/a", "{}"), by: TestUser(uid: "u1", claims: #"{"admin": true}"#)),
        RuleCase(23, 6, .get("staff/s"), by: verified, with: ["staff/s": "{}"]),
        RuleCase(28, 7, .set("items/i", #"{"title": "ab", "n": 1}"#)),
        RuleCase(29, 7, .set("items/i", #"{"title": "ab", "n": 1, "tag": "x"}"#)),
        RuleCase(36, 8, .merge("docs/d", #"{"text": "x"}"#), by: .u1, with: ["docs/d": #"{"owner": "u1"}"#]),
        RuleCase(39, 9, .merge("pics/p", #"{"likes": 1}"#), with: ["pics/p": #"{"likes": 0, "title": "a"}"#]),
        RuleCase(40, 9, .merge("pics/p", #"{"likes": 4}"#), with: ["pics/p": #"{"likes": 3, "title": "a"}"#]),
        RuleCase(44, 10, .set("log/l", #"{"at": NOW}"#)),
        RuleCase(46, 11, .merge("pings/p", #"{"last": NOW}"#), with: last("11:58:59")),
        RuleCase(50, 12, .get("tenants/a/x/1"), by: tenant, with: ["tenants/a/x/1": "{}"]),
        RuleCase(51, 12, .get("tenants/a"), by: tenant, with: ["tenants/a": "{}"]),
        RuleCase(52, 12, .list(TestQuery("tenants/a/x")), by: tenant),
        RuleCase(56, 13, .list(TestQuery("rooms", where: #"members array-contains "u1""#)), by: .u1, with: room),
        RuleCase(57, 13, .list(TestQuery("rooms/r/msgs")), by: .u1, with: room),
        RuleCase(61, 14, .list(TestQuery("group:reviews", where: "public == true"))),
        RuleCase(62, 14, .list(TestQuery("books/b/reviews", where: "public == true"))),
        RuleCase(63, 14, .list(TestQuery("reviews", where: "public == true"))),
        RuleCase(67, 15, .list(TestQuery("feed", limit: 10))),
        RuleCase(
            71,
            16,
            .commit([.set("orders/o", #"{"item": "i"}"#), .merge("stock/i", #"{"left": 4}"#)]),
            with: ["stock/i": #"{"left": 5}"#]
        ),
        RuleCase(75, 17, .merge("bills/b", #"{"status": "sent"}"#), with: ["bills/b": #"{"status": "draft"}"#]),
        RuleCase(79, 18, .set("polls/p/votes/u1", "{}"), by: .u1, with: poll("12:00:01")),
        RuleCase(84, 19, .set("users/u1", "{}"), by: .u1),
        RuleCase(86, 20, .get("pages/p"), with: ["pages/p": #"{"public": true}"#]),
        RuleCase(87, 20, .get("pages/p"), by: .u1, with: ["pages/p": #"{"owner": "u1"}"#]),
        RuleCase(88, 20, .list(TestQuery("pages", where: "public == true"))),
        RuleCase(91, 21, .set("people/p", #"{"name": "a"}"#)),
        RuleCase(92, 21, .set("people/p", #"{"age": 3}"#)),
        RuleCase(95, 22, .set("members/u1", #"{"name": "a"}"#), by: .u1),
        RuleCase(96, 22, .merge("members/u1", #"{"name": "b"}"#), by: .u1, with: ["members/u1": #"{"name": "a", "role": "x"}"#]),
        RuleCase(99, 23, .get("mails/m"), with: ["mails/m": #"{"text": "a"}"#]),
        RuleCase(100, 23, .list(TestQuery("mails", where: "deleted == false"))),
        RuleCase(103, 24, .get("drafts/d")),
        RuleCase(104, 24, .get("drafts/d"), by: .u1, with: ["drafts/d": #"{"owner": "u1"}"#]),
        RuleCase(107, 25, .get("invites/i"), by: invited, with: invite("12:00:01")),
    ]

    static func last(_ time: String) -> [String: String] {
        ["pings/p": "{\"last\": {\"$timestamp\": \"2024-05-01T\(time)Z\"}}"]
    }

    static func poll(_ time: String) -> [String: String] {
        ["polls/p": "{\"closes\": {\"$timestamp\": \"2024-05-01T\(time)Z\"}}"]
    }

    static func invite(_ time: String) -> [String: String] {
        ["invites/i": "{\"to\": \"a@example.org\", \"until\": {\"$timestamp\": \"2024-05-01T\(time)Z\"}}"]
    }
}
