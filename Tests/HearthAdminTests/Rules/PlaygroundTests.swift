import DocumentModel
import DocumentStore
import FileStore
import HTTPTypes
import HearthAPI
import Testing
import UTF8Text

@testable import HearthAdmin

@Suite("Playground of rules")
struct PlaygroundTests {
    private static let url = "/admin/rules/playground"

    private static let rules = RulesTestData.rules(
        """
        function isEditor() { return get(/databases/$(d)/documents/users/$(request.auth.uid)).data.role == 'editor'; }
        match /lists/{list} {
          allow get: if request.auth.uid == resource.data.owner;
          allow list: if resource.data.owner == request.auth.uid && request.query.limit <= 10;
          allow create: if request.resource.data.owner == request.auth.uid;
          allow update: if isEditor() && request.resource.data.owner == resource.data.owner;
          allow delete: if request.auth.token.admin == true;
        }
        """
    )

    private static func writes() throws(StatusError) -> [Write] {
        [
            .create(try DocumentPath("lists/1"), ["owner": .string("alice"), "n": .integer(1)]),
            .create(try DocumentPath("users/ed"), ["role": .string("editor")]),
        ]
    }

    /// A request and whether it is allowed, by the statement on which line.
    struct Case: Sendable {
        let fields: KeyValuePairs<String, String>
        let isAllowed: Bool
        let line: Int

        init(_ fields: KeyValuePairs<String, String>, isAllowed: Bool, line: Int) {
            (self.fields, self.isAllowed, self.line) = (fields, isAllowed, line)
        }
    }

    private static let cases = [
        Case(["method": "get", "path": "lists/1", "signed-in": "1", "uid": "alice"], isAllowed: true, line: 6),
        Case(["method": "get", "path": "lists/1", "signed-in": "1", "uid": "bob"], isAllowed: false, line: 6),
        // The user's ID counts only if someone is signed in.
        Case(["method": "get", "path": "lists/1", "uid": "alice"], isAllowed: false, line: 6),
        Case(
            ["method": "get", "path": "/databases/(default)/documents/lists/1", "signed-in": "1", "uid": "alice"],
            isAllowed: true,
            line: 6
        ),
        Case(
            [
                "method": "list", "path": "lists", "signed-in": "1", "uid": "alice",
                "query": #"{"where": {"field": "owner", "op": "==", "value": "alice"}, "limit": 10}"#,
            ],
            isAllowed: true,
            line: 7
        ),
        Case(
            [
                "method": "list", "path": "", "signed-in": "1", "uid": "alice",
                "query": #"{"collection": "lists", "where": {"field": "owner", "op": "==", "value": "alice"}, "limit": 11}"#,
            ],
            isAllowed: false,
            line: 7
        ),
        Case(["method": "list", "path": "lists", "signed-in": "1", "uid": "alice"], isAllowed: false, line: 7),
        Case(
            ["method": "create", "path": "lists/2", "signed-in": "1", "uid": "bob", "data": #"{"owner": "bob"}"#],
            isAllowed: true,
            line: 8
        ),
        Case(
            ["method": "update", "path": "lists/1", "signed-in": "1", "uid": "ed", "data": #"{"n": 2}"#],
            isAllowed: false,
            line: 9
        ),
        Case(
            ["method": "update", "path": "lists/1", "signed-in": "1", "uid": "ed", "data": #"{"n": 2}"#, "keep": "1"],
            isAllowed: true,
            line: 9
        ),
        Case(
            ["method": "delete", "path": "lists/1", "signed-in": "1", "uid": "x", "claims": #"{"admin": true}"#],
            isAllowed: true,
            line: 10
        ),
        Case(["method": "delete", "path": "lists/1", "signed-in": "1", "uid": "x"], isAllowed: false, line: 10),
    ]

    private func run(_ fields: KeyValuePairs<String, String>, rules: String = rules, in site: TestSite) async -> PageResponse {
        await site.post(Self.url, RulesTestData.form(["do": "run", "rules": rules]) + "&" + RulesTestData.form(fields))
    }

    @Test(arguments: cases)
    func `A request is decided by the rules in the form`(test: Case) async throws {
        try await TestSite.with(Self.writes()) { site in
            let before = site.store.position
            let response = await run(test.fields, in: site)
            #expect(response.status == .ok)
            let page = try HTMLPage(response.body)
            #expect(page.parseErrors == [])
            #expect(try page.texts("//h2[@id='verdict']") == [test.isAllowed ? "Allowed" : "Denied"])
            #expect(try page.all("//section[contains(@class,'verdict')]//li/a").map { $0["href"] } == ["#P\(test.line)"])
            #expect(try page.one("//tr[@id='P\(test.line)']")["class"] == (test.isAllowed ? "granted" : "denied"))
            // Nothing is written, counted or deployed.
            #expect(site.store.position.lastSequence == before.lastSequence)
            #expect(site.activeRules == nil)
        }
    }

    @Test
    func `The documents that rules read and the values of expressions are shown`() async throws {
        try await TestSite.with(Self.writes()) { site in
            let response = await run(
                ["method": "update", "path": "lists/1", "signed-in": "1", "uid": "ed", "data": #"{"owner": "<b>"}"#],
                in: site
            )
            let page = try HTMLPage(response.body)
            try GoldenFile.check(page, "rules-playground.html")
            #expect(try page.all("//section[@aria-labelledby='reads']//a").map { $0["href"] } == ["/admin/data/users/ed"])
            let remarks = try page.texts("//tr[@id='P4']//li[1]")
            #expect(remarks.count == 1 && remarks[0].hasSuffix("true"))
            #expect(try page.texts("//tr[@id='P9']//li").contains { $0.contains("<b>") })
            let absent = await run(["method": "update", "path": "lists/1", "signed-in": "1", "uid": "nobody"], in: site)
            #expect(try HTMLPage(absent.body).texts("//section[@aria-labelledby='reads']//span") == ["does not exist"])
        }
    }

    @Test
    func `A path that no statement is about is denied`() async throws {
        try await TestSite.with { site in
            let page = try HTMLPage(await run(["method": "get", "path": "others/1"], in: site).body)
            #expect(
                try page.texts("//section[contains(@class,'verdict')]/p[1]") == [
                    "No allow statement is about this path and method."
                ]
            )
        }
    }

    @Test
    func `The form begins with the active rules, and takes over the text of the editor`() async throws {
        try await TestSite.with { site in
            try await site.setRules(Self.rules)
            let page = try await site.page(Self.url)
            #expect(page.parseErrors == [])
            #expect(try page.one("//main//details/summary").text == "Rules: the active ones")
            let edited = RulesTestData.rules("// edited")
            let editor = try BrowserForm(try await site.page("/admin/rules"), "//form[@id='editor']").with(["rules": edited])
            let opened = try HTMLPage(await site.post(Self.url, editor.with(["do": "open"]).text).body)
            #expect(try opened.one("//main//details/summary").text == "Rules: edited, not deployed")
            let form = try BrowserForm(opened, "//form[contains(@class,'playground')]")
            #expect(form["rules"] == edited)
            let back = try HTMLPage(await site.post("/admin/rules", form.with(["do": "edit"]).text).body)
            let again = try BrowserForm(back, "//form[@id='editor']")
            #expect([again["rules"], again["base"]] == [edited, editor["base"]])
        }
    }

    @Test(
        arguments: [
            (["method": "get", "path": "lists"], "path"), (["method": "list", "path": "lists/1"], "path"),
            (["method": "get", "path": ""], "path"), (["method": "create", "path": "lists/1"], "method"),
            (["method": "update", "path": "lists/9"], "method"), (["method": "create", "path": "a/b", "data": "{"], "data"),
            (["method": "create", "path": "a/b", "data": "[]"], "data"),
            (["method": "create", "path": "a/b", "data": #"{"a": {"$timestamp": "x"}}"#], "data"),
            (["method": "get", "path": "a/b", "signed-in": "1", "uid": ""], "uid"),
            (["method": "get", "path": "a/b", "signed-in": "1", "uid": "u", "claims": "[]"], "claims"),
            (["method": "get", "path": "a/b", "signed-in": "1", "uid": "u", "claims": "{"], "claims"),
            (["method": "list", "path": "a", "query": "{"], "query"), (["method": "list", "path": "a", "query": "[1]"], "query"),
            (["method": "list", "path": "a", "query": #"{"limt": 1}"#], "query"),
            (["method": "get", "path": "a/b", "rules": "service"], "checked"),
        ] as [(KeyValuePairs<String, String>, String)]
    )
    func `Invalid input is reported at its field and kept`(fields: KeyValuePairs<String, String>, field: String) async throws {
        try await TestSite.with(Self.writes()) { site in
            // The first of two fields counts.
            let response = await site.post(
                Self.url,
                RulesTestData.form(fields) + "&do=run&rules=" + PercentEncoding.encode(UTF8Key(Self.rules))
            )
            #expect(response.status == .unprocessableContent)
            let page = try HTMLPage(response.body)
            #expect(page.parseErrors == [])
            #expect(try page.all("//div[@id='problems']//a").map { $0["href"] } == ["#\(field)"])
            #expect(try page.all("//*[@id='\(field)']").count == 1)
            let form = try BrowserForm(page, "//form[contains(@class,'playground')]")
            for (name, value) in fields { #expect(form[name] == value) }
        }
    }

    @Test(
        arguments: HostileValueTests.texts + [
            String(repeating: "[", count: 100_000),
            #"{"a":"# + String(repeating: "[", count: 400) + String(repeating: "]", count: 400) + "}",
            #"{"a": 1e999, "b": -0, "c": 123456789012345678901234567890}"#, #"{"a": "\ud800"}"#, #"{"sub": {"$map": 1}}"#,
        ]
    )
    func `Hostile input is escaped and never fails the server`(text: String) async throws {
        try await TestSite.with { site in
            for method in ["get", "list", "create", "update", "delete"] {
                let response = await run(
                    [
                        "method": method, "path": text, "signed-in": "1", "uid": text, "claims": text, "data": text,
                        "query": text, "base": text,
                    ],
                    in: site
                )
                #expect(response.status == .unprocessableContent)
                let page = try HTMLPage(response.body)
                if !text.utf8.contains(0) { #expect(page.parseErrors == []) }
                try page.checkInert()
            }
            var writer = RulesTestData.form(["uid": text])
            writer += "&method=get&path=lists/1&signed-in=1&claims=%7B%7D"
            let decided = await site.post(Self.url, "do=run&\(writer)&rules=\(PercentEncoding.encode(UTF8Key(Self.rules)))")
            #expect(decided.status == .ok)
            try HTMLPage(decided.body).checkInert()
        }
    }

    @Test
    func `A form that is not UTF-8 is rejected`() async throws {
        try await TestSite.with { site in
            for address in [Self.url, "/admin/rules"] {
                #expect(await site.post(address, "do=run&rules=%FF").status == .badRequest)
            }
        }
    }

    @Test
    func `A query is decided with every document that it could find, and the emulator's words are shown`() async throws {
        try await TestSite.with(Self.writes()) { site in
            let page = try HTMLPage(await run(["method": "list", "path": "lists"], in: site).body)
            let notes = try page.texts("//section[contains(@class,'verdict')]/p[@class='note']")
            #expect(notes.count == 2)
            #expect(notes[1].contains("for 'list' @ L7"))
        }
    }
}
