extension RuleCase {
    private static let owned = ["notes/n": #"{"owner": "u1"}"#]
    private static let staff = ["staff/s": "{}"]
    private static let likes = ["pics/p": #"{"likes": 3, "title": "a"}"#]
    private static let tenantB = TestUser(uid: "u1", claims: #"{"tenant": "b"}"#)
    private static let tenant = TestUser(uid: "u1", claims: #"{"tenant": "a"}"#)
    private static let invited = TestUser(uid: "u1", claims: #"{"email": "a@example.org"}"#)
    private static let room = ["rooms/r": #"{"members": ["u1"]}"#, "rooms/r/msgs/m": "{}"]
    private static let stock = ["stock/i": #"{"left": 5}"#]
    private static let member = ["members/u1": #"{"name": "a", "role": "x"}"#]

    private static func user(_ claims: String) -> TestUser { TestUser(uid: "u1", claims: claims) }

    /// The cases that are denied.
    static let denied: [RuleCase] = reads + writes

    private static let reads: [RuleCase] = [
        RuleCase(4, 1, .get("notes/n"), by: .u2, with: owned),
        RuleCase(5, 1, .get("notes/n"), with: owned),
        RuleCase(7, 1, .get("notes/x"), by: .u1, with: owned),
        RuleCase(12, 2, .get("users/u1/x/1"), by: .u1, with: ["users/u1/x/1": "{}"]),
        RuleCase(18, 4, .get("files/f"), by: .u2, with: ["files/f": #"{"roles": {"u1": "reader"}}"#]),
        RuleCase(19, 4, .list(TestQuery("files")), by: .u1),
        RuleCase(24, 6, .get("staff/s"), by: user(#"{"email": "a@example.org.evil.net", "email_verified": true}"#), with: staff),
        RuleCase(25, 6, .get("staff/s"), by: user(#"{"email": "a@example.org", "email_verified": false}"#), with: staff),
        RuleCase(26, 6, .get("staff/s"), by: user(#"{"email": "a@EXAMPLE.org", "email_verified": true}"#), with: staff),
        RuleCase(27, 6, .get("staff/s"), by: user(#"{"phone_number": "+49301"}"#), with: staff),
        RuleCase(51, 12, .get("tenants/a"), by: tenant, with: ["tenants/a": "{}"], version: "1"),
        RuleCase(53, 12, .get("tenants/a/x/1"), by: tenantB, with: ["tenants/a/x/1": "{}"]),
        RuleCase(54, 12, .list(TestQuery("tenants")), by: tenant),
        RuleCase(55, 12, .list(TestQuery("group:x")), by: tenant),
        RuleCase(58, 13, .list(TestQuery("rooms")), by: .u1, with: room),
        RuleCase(59, 13, .list(TestQuery("rooms/r/msgs")), by: .u2, with: room),
        RuleCase(60, 13, .list(TestQuery("rooms/x/msgs")), by: .u1, with: room),
        RuleCase(64, 14, .list(TestQuery("group:reviews"))),
        RuleCase(65, 14, .get("reviews/r"), with: ["reviews/r": #"{"public": true}"#]),
        RuleCase(66, 14, .list(TestQuery("group:reviews", where: "public in [true,false]"))),
        RuleCase(68, 15, .list(TestQuery("feed", limit: 11))),
        RuleCase(69, 15, .list(TestQuery("feed"))),
        RuleCase(70, 15, .get("feed/f"), with: ["feed/f": "{}"]),
        RuleCase(85, 19, .get("other/o"), by: .u1, with: ["other/o": "{}"]),
        RuleCase(89, 20, .get("pages/p"), with: ["pages/p": #"{"public": false, "owner": "u1"}"#]),
        RuleCase(90, 20, .list(TestQuery("pages", any: [#"owner == "u1""#, "other == 1"])), by: .u1),
        RuleCase(101, 23, .get("mails/m"), with: ["mails/m": #"{"deleted": true}"#]),
        RuleCase(102, 23, .list(TestQuery("mails"))),
        RuleCase(105, 24, .get("drafts/d"), by: .u2, with: ["drafts/d": #"{"owner": "u1"}"#]),
        RuleCase(106, 24, .list(TestQuery("drafts", where: #"owner == "u1""#)), by: .u1),
        RuleCase(108, 25, .get("invites/i"), by: invited, with: invite("12:00:00")),
        RuleCase(109, 25, .list(TestQuery("invites", where: #"to == "a@example.org""#)), by: invited),
    ]

    private static let writes: [RuleCase] = [
        RuleCase(6, 1, .set("notes/m", #"{"owner": "u2"}"#), by: .u1),
        RuleCase(11, 2, .delete("users/u1"), by: .u2, with: ["users/u1": "{}"]),
        RuleCase(12, 2, .set("users/u1/x/1", "{}"), by: .u1),
        RuleCase(14, 3, .set("posts/p", "{}"), by: .u1, with: ["users/u1": "{}"]),
        RuleCase(15, 3, .set("posts/p", "{}"), by: .u1),
        RuleCase(16, 3, .set("posts/p", "{}")),
        RuleCase(21, 5, .set("admin/a", "{}"), by: .u1),
        RuleCase(22, 5, .set("admin/a", "{}"), by: user(#"{"admin": "true"}"#)),
        RuleCase(30, 7, .set("items/i", #"{"title": "ab", "n": 1, "other": 1}"#)),
        RuleCase(31, 7, .set("items/i", #"{"title": "ab"}"#)),
        RuleCase(32, 7, .set("items/i", #"{"title": "ab", "n": 1.0}"#)),
        RuleCase(33, 7, .set("items/i", #"{"title": "ab", "n": 0}"#)),
        RuleCase(34, 7, .set("items/i", #"{"title": "abcdef", "n": 1}"#)),
        RuleCase(35, 7, .set("items/i", #"{"title": "ab", "n": 1}"#), with: ["items/i": "{}"]),
        RuleCase(37, 8, .set("docs/d", #"{"text": "x"}"#), by: .u1, with: ["docs/d": #"{"owner": "u1"}"#]),
        RuleCase(38, 8, .merge("docs/d", #"{"text": "x"}"#), by: .u1, with: ["docs/d": "{}"]),
        RuleCase(41, 9, .merge("pics/p", #"{"likes": 5}"#), with: likes),
        RuleCase(42, 9, .merge("pics/p", #"{"likes": 4, "title": "b"}"#), with: likes),
        RuleCase(43, 9, .merge("pics/p", #"{"likes": 3}"#), with: likes),
        RuleCase(45, 10, .set("log/l", #"{"at": {"$timestamp": "2024-05-01T12:00:00.000001Z"}}"#)),
        RuleCase(47, 11, .merge("pings/p", #"{"last": NOW}"#), with: last("11:59:01")),
        RuleCase(48, 11, .merge("pings/p", #"{"last": NOW}"#), with: last("11:59:00")),
        RuleCase(49, 11, .merge("pings/p", #"{"last": {"$timestamp": "2024-05-01T11:58:00Z"}}"#), with: last("11:58:00")),
        RuleCase(53, 12, .set("tenants/a/x/1", "{}"), by: tenantB),
        RuleCase(72, 16, .set("orders/o", #"{"item": "i"}"#), with: stock),
        RuleCase(
            73,
            16,
            .commit([.set("orders/o", #"{"item": "i"}"#), .merge("stock/i", #"{"left": -1}"#)]),
            with: ["stock/i": #"{"left": 0}"#]
        ),
        // Of two commits one after the other, the first is refused.
        RuleCase(74, 16, .commit([.set("orders/o", #"{"item": "i"}"#)]), with: stock),
        RuleCase(76, 17, .merge("bills/b", #"{"status": "paid"}"#), with: ["bills/b": #"{"status": "draft"}"#]),
        RuleCase(77, 17, .merge("bills/b", #"{"status": "draft"}"#), with: ["bills/b": #"{"status": "paid"}"#]),
        RuleCase(78, 17, .set("bills/b", "{}"), with: ["bills/b": #"{"status": "draft"}"#]),
        RuleCase(
            80,
            18,
            .set("polls/p/votes/u1", "{}"),
            by: .u1,
            with: poll("12:00:01").merging(["polls/p/votes/u1": "{}"]) { $1 }
        ),
        RuleCase(81, 18, .set("polls/p/votes/u1", "{}"), by: .u1, with: poll("12:00:00")),
        RuleCase(82, 18, .set("polls/p/votes/u2", "{}"), by: .u1, with: poll("12:00:01")),
        RuleCase(83, 18, .set("polls/p/votes/u1", "{}"), by: .u1),
        RuleCase(85, 19, .set("other/o", "{}"), by: .u1),
        RuleCase(93, 21, .set("people/p", #"{"age": null}"#)),
        RuleCase(94, 21, .set("people/p", #"{"age": "3"}"#)),
        RuleCase(97, 22, .set("members/u1", #"{"role": "x"}"#), by: .u1),
        RuleCase(98, 22, .merge("members/u1", #"{"role": "y"}"#), by: .u1, with: member),
        RuleCase(98, 22, .merge("members/u1", #"{"role": "y"}"#), by: .u1, with: ["members/u1": "{}"]),
        RuleCase(98, 22, .set("members/u1", #"{"name": "a"}"#), by: .u1, with: member),
    ]
}
