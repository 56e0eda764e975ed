import DocumentModel
import DocumentStore
import HTTPTypes
import HearthAPI
import HearthHTTP
import HummingbirdCore
import JSONRPC
import NIOCore
import StrictJSON
import Testing
import UTF8Text

@testable import HearthAdmin

@Suite("API reference")
struct APIReferenceTests {
    @Test
    func `The page has every method, parameter, result, error and example of the OpenRPC document`() async throws {
        let document = try JSONText(HearthMethods.table.openRPCDocument).root
        try await TestSite.with { site in
            let page = try await site.page("/rpc/docs")
            #expect(page.parseErrors == [])
            let methods = try #require(document["methods"]?.elements.map(Array.init))
            #expect(try page.texts("//nav//a[starts-with(@href, '#')]") == methods.map { $0["name"]?.string })
            for method in methods {
                let name = try #require(method["name"]?.string)
                let section = "//section[@id='\(name)']"
                let text = try page.one(section).text
                #expect(text.contains(try #require(method["summary"]?.string)))
                #expect(text.contains("Required role: \(try #require(method["x-right"]?.string))."))
                let params = method["params"]?.elements.map(Array.init) ?? []
                let result = try #require(method["result"])
                let errors = method["errors"]?.elements.map(Array.init) ?? []
                #expect(
                    try page.texts("\(section)//dt/code")
                        == (params + [result]).map { $0["name"]?.string }
                        + errors.map { $0["code"].map { String(decoding: $0.rawBytes, as: UTF8.self) } }
                )
                let required = params.filter { $0["required"]?.boolean == true }
                #expect(try page.texts("\(section)//dt[.//strong]/code") == required.map { $0["name"]?.string })
                let examples = method["examples"]?.elements.map(Array.init) ?? []
                for content in params + [result] { #expect(text.contains(try #require(content["description"]?.string))) }
                for error in errors { #expect(text.contains(try #require(error["message"]?.string))) }
                #expect(try page.all("\(section)//pre[@class='command']").count == max(examples.count, 1))
                #expect(try page.all("\(section)//form[@method='post']").count == 1)
            }
            let schemas = try #require(document["components"]?["schemas"]?.members.map(Array.init))
            #expect(try page.texts("//h3[starts-with(@id, 'schema-')]") == schemas.map(\.key.string))
        }
    }

    @Test
    func `Every link to an anchor has a target`() async throws {
        try await TestSite.with { site in
            let page = try await site.page("/rpc/docs")
            let targets = Set(try page.all("//@id").map { UTF8Key($0.text) })
            for link in try page.all("//a[starts-with(@href, '#')]") {
                let target = try #require(link["href"]).utf8.dropFirst()
                #expect(targets.contains(UTF8Key(String(Substring(target)))), "\(link.text)")
            }
        }
    }

    @Test(
        arguments: [
            (#"{}"#, "any value"), (#"{"type":"string","format":"date-time"}"#, "string, date-time"),
            (#"{"type":"integer","minimum":1}"#, "integer, at least 1"),
            (#"{"type":"integer","minimum":1,"maximum":9}"#, "integer, 1 to 9"),
            (#"{"type":"integer","maximum":9}"#, "integer, at most 9"),
            (##"{"type":"array","items":{"$ref":"#/components/schemas/Value"}}"##, "array of Value"),
            (##"{"allOf":[{"$ref":"#/components/schemas/Value"}],"description":"x"}"##, "Value"),
            (##"{"oneOf":[{"type":"string"},{"$ref":"#/components/schemas/A"},{"type":"number"}]}"##, "string or A or number"),
            (#"{"type":"string","enum":["asc","desc"]}"#, #""asc" or "desc""#),
            (#"{"type":"object","additionalProperties":{"type":"boolean"}}"#, "object of boolean"),
            (#"{"type":"object","properties":{},"additionalProperties":false}"#, "object"),
        ]
    )
    func `Types are described in words`(schema: String, words: String) throws {
        #expect(SchemaDescription(try JSONText(schema).root).parts.map(\.text).joined() == words)
    }

    @Test
    func `Commands use the host of the request, and an API key once keys exist`() async throws {
        try await TestSite.with { site in
            let command = "//pre[@id='example-documents.get-1']"
            let body = #"'{"jsonrpc":"2.0","id":1,"method":"documents.get","params":{"path":"books/hitchhiker"}}'"#
            let plain = try HTMLPage(await site.get("/rpc/docs", host: "db.example:81").body).one(command).text
            #expect(plain == "curl http://db.example:81/rpc -H 'Content-Type: application/json' -d \(body)")
            _ = try await site.keys.create(.init(role: .reader))
            let keyed = try HTMLPage(await site.get("/rpc/docs", host: "x'$(id)").body).one(command).text
            let key = #"-H "Authorization: Bearer $HEARTH_KEY""#
            #expect(keyed == "curl http://127.0.0.1:8080/rpc -H 'Content-Type: application/json' \(key) -d \(body)")
        }
    }

    @Test
    func `The export command quotes the database name and keeps the URL's scheme`() throws {
        let command = ShellCommands(host: "a", isSecure: true, needsKey: true).export(
            of: try DatabaseID(project: UTF8Key("x"), database: UTF8Key("$(id)' ;"))
        )
        #expect(
            command.utf8.elementsEqual(
                #"hearth export --server https://a --database 'x/$(id)'\'' ;' --output backup.ndjson"#.utf8
            )
        )
    }

    @Test
    func `Quotes in a request are escaped in the command`() {
        let command = ShellCommands(host: "a", needsKey: false).curl(#"{"a":"it's"}"#)
        #expect(command.utf8.elementsEqual(#"curl http://a/rpc -H 'Content-Type: application/json' -d '{"a":"it\u0027s"}'"#.utf8))
    }
}

@Suite("Forms of the API reference")
struct MethodCallFormTests {
    @Test
    func `A submitted form shows the result and keeps the parameters`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let response = await site.send("method=documents.get&params=%7B%22path%22%3A+%22books%2Fhitchhiker%22%7D%0D%0A")
            #expect(response.status == .ok)
            #expect(response.headers[.cacheControl] == "no-store")
            let page = try HTMLPage(response.body)
            let answer = try page.one("//section[@id='documents.get']//*[@role='status']//pre").text
            #expect(try JSONText(answer).root["fields"]?["numberOfPages"]?.number == .integer(816))
            #expect(try page.all("//*[@role='status']").count == 1)
            let shown = try page.one("//section[@id='documents.get']//textarea").text
            #expect(shown.contains(#"{"path": "books/hitchhiker"}"#))
        }
    }

    @Test(
        arguments: [
            ("documents.get", "%7B%22path%22%3A%22books%2Fnone%22%7D", #""code": 5"#), ("documents.get", "", #""code": -32602"#),
            ("documents.get", "1", #""code": -32600"#), ("documents.get", "%7B", "Invalid JSON"),
            ("documents.get", "%7B%7D%2C%22id%22%3A2", "Invalid JSON"),
            ("keys.create", "%7B%22role%22%3A%22admin%22%7D&confirmed=yes", #""code": 7"#),
        ]
    )
    func `A failed call shows its error`(method: String, params: String, text: String) async throws {
        try await TestSite.with { site in
            let response = await site.send("method=\(method)&params=\(params)")
            #expect(response.status == .ok)
            let answer = try HTMLPage(response.body).one("//section[@id='\(method)']//*[@role='status']")
            #expect(answer["class"] == "answer alert")
            #expect(answer.text.contains(text))
        }
    }

    @Test
    func `Methods that change data have an empty form, and are called after a confirmation`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let page = try await site.page("/rpc/docs")
            for method in APIReference().methods where method.changesData {
                #expect(try page.one("//textarea[@id='params-\(method.name)']").text.utf8.allSatisfy { $0 == UInt8(ascii: "\n") })
            }
            // A new method counts as one that changes data, unless its name or role says otherwise.
            let reading = APIReference().methods.filter { !$0.changesData && $0.requiredRole != "reader" }
            #expect(reading.map(\.name) == ["server.log", "backups.list", "rules.get", "keys.list"])
            let path = try DocumentPath("books/hitchhiker")
            let form = "method=documents.delete&params=%7B%22path%22%3A%22books%2Fhitchhiker%22%7D"
            let asked = try HTMLPage(await site.send(form).body)
            #expect(try await site.store.document(at: path) != nil)
            #expect(asked.parseErrors == [])
            let selector = "//section[@id='documents.delete']//form[.//input[@name='confirmed']]"
            #expect(try asked.one("\(selector)//pre").text.contains("books/hitchhiker"))
            let answer = try HTMLPage(await site.send(try BrowserForm(asked, selector).text).body)
            #expect(try answer.one("//*[@role='status']")["class"] == "answer")
            #expect(await site.get("/admin/data/books/hitchhiker").status == .notFound)
        }
    }

    @Test(arguments: [(Role.reader, true), (.writer, false)])
    func `The call has the permissions of the user`(role: Role, isRejected: Bool) async throws {
        try await TestSite.with { site in
            let caller = try site.keys.authenticate(Array(try await site.keys.create(.init(role: role)).text.utf8))
            let params = "%7B%22path%22%3A%22a%2Fb%22%2C%22fields%22%3A%7B%7D%7D"
            let page = try HTMLPage(await site.send("method=documents.set&confirmed=yes&params=\(params)", as: caller).body)
            #expect(try page.one("//*[@role='status']").text.contains("PERMISSION_DENIED") == isRejected)
        }
    }

    @Test
    func `The sidebar lists only permitted collections`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let made = try await site.keys.create(.init(role: .reader, collections: [CollectionPath("books")]))
            let caller = try site.keys.authenticate(Array(made.text.utf8))
            for form in ["method=server.info", "method=nothing"] {
                let source = String(decoding: await site.send(form, as: caller).body, as: UTF8.self)
                #expect(!source.contains("programming-languages"))
            }
        }
    }

    @Test(
        arguments: ["", "method=nothing", "params=%7B%7D", "method=%FF", "method"]
    )
    func `Other forms are rejected`(form: String) async throws {
        try await TestSite.with { site in
            #expect(await site.send(form).status == .badRequest)
        }
    }

    @Test(
        arguments: [
            ("application/x-www-form-urlencoded", 10, HTTPResponse.Status.ok),
            ("application/x-www-form-urlencoded; charset=utf-8", 10, .ok),
            ("application/x-www-form-urlencoded", 16 << 20, .contentTooLarge), ("text/plain", 10, .badRequest),
        ]
    )
    func `Forms with a wrong content type or excessive size are rejected`(
        type: String,
        padding: Int,
        status: HTTPResponse.Status
    ) async throws {
        try await TestSite.with { site in
            let client = RouteClient(site.pages)
            let body = ByteBuffer(string: "method=server.info&params=" + String(repeating: "+", count: padding))
            let response = try await client.execute("/rpc/docs", method: .post, headers: [.contentType: type], body: body)
            #expect(response.status == status)
            let other = try await client.execute("/rpc/docs", method: .delete)
            #expect(other.status == .methodNotAllowed)
            #expect(other.headers[.allow] == "GET, HEAD, POST, OPTIONS")
        }
    }
}

@Suite("JSON pretty printer")
struct JSONPrettyPrinterTests {
    @Test(
        arguments: [
            (#"{ "a" :1.0,"b":[ ] , "c": {}}"#, #"{"a": 1.0, "b": [], "c": {}}"#),
            ("\"\\u0041\"", "\"\\u0041\""), ("1E400", "1E400"),
            (
                #"{"a":["\#(String(repeating: "x", count: 50))","\#(String(repeating: "y", count: 50))"],"b":{"c":null}}"#,
                """
                {
                  "a": [
                    "\(String(repeating: "x", count: 50))",
                    "\(String(repeating: "y", count: 50))"
                  ],
                  "b": {"c": null}
                }
                """
            ),
            ("[\"\u{202e}\"]", #"["\u202e"]"#),
        ]
    )
    func `Values that fit stay on one line, and scalars keep their notation`(json: String, text: String) throws {
        #expect(JSONPrettyPrinter.text(try JSONText(json).root).utf8.elementsEqual(text.utf8))
    }
}
