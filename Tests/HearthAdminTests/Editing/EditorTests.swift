import DocumentModel
import DocumentStore
import HTTPTypes
import HearthAPI
import Testing
import UTF8Text

@testable import HearthAdmin

@Suite("Document editor")
struct EditorTests {
    @Test
    func `Adding a field beyond the limit is rejected, keeps the input and links to the JSON editor`() async throws {
        try await TestSite.with { site in
            var form = "as=fields&base=&id=x&rows=600"
            for row in 0..<600 { form += "&r\(row)-depth=0&r\(row)-name=f\(row)&r\(row)-type=string&r\(row)-value=v\(row)" }
            let response = await site.post("/admin/data/a?new", form + "&do=add")
            #expect(response.status == .unprocessableContent)
            let page = try HTMLPage(response.body)
            #expect(page.parseErrors == [])
            #expect(try page.one("//*[@id='problems']//a")["href"] == "#as-json")
            #expect(try page.all("//button[@id='as-json']").count == 1)
            let sent = try BrowserForm(page)
            #expect(sent["rows"] == "600")
            #expect(sent["r599-value"] == "v599")
            let json = try HTMLPage(await site.post("/admin/data/a?new", sent.with(["do": "json"]).text).body)
            #expect(try json.one("//textarea[@id='json']").text.contains("\"f599\": \"v599\""))
            #expect(await site.post("/admin/data/a?new", sent.with(["do": "save"]).text).status == .seeOther)
        }
    }

    @Test(arguments: ["edit", "new"])
    func `Pasted JSON replaces the fields; an error shows its place and keeps the input`(action: String) async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let url = action == "edit" ? "/admin/data/books/hitchhiker?edit" : "/admin/data/books?new"
            let form = try BrowserForm(await site.page(url)).with(["do": "paste", "paste": #"{"a": 1, "b": {"c": [true]}}"#])
            let page = try HTMLPage(await site.post(url, form.text).body)
            #expect(page.parseErrors == [])
            let pasted = try BrowserForm(page)
            #expect(pasted["rows"] == "4")
            #expect(pasted["base"] == form["base"])
            #expect(pasted["r3-value"] == "true")
            let response = await site.post(url, form.with(["paste": "{\n  \"a\": 1,,\n}"]).text)
            #expect(response.status == .unprocessableContent)
            let invalid = try HTMLPage(response.body)
            #expect(try invalid.one("//*[@id='paste-error']").text.hasPrefix("Line 2, column"))
            #expect(try BrowserForm(invalid)["rows"] == form["rows"])
            #expect(try BrowserForm(invalid)["paste"]?.contains(",,") == true)
        }
    }

    @Test
    func `The editor has a stream of the changes since it was opened, also after its form was shown again`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let url = "/admin/data/books/hitchhiker?edit"
            let page = try await site.page(url)
            let stream = try #require(try page.one("//*[@id='live']")["data-stream"])
            #expect(stream.hasPrefix("/admin/data/books/hitchhiker?live="))
            _ = try await site.store.commit([.set(try DocumentPath("books/hitchhiker"), [:])])
            let again = try HTMLPage(await site.post(url, BrowserForm(page).with(["do": "add"]).text).body)
            #expect(try again.one("//*[@id='live']")["data-stream"] == stream)
            #expect(try await site.page("/admin/data/books?new").all("//*[@id='live']").isEmpty)
        }
    }

    @Test
    func `The timestamp now is the time of the server`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let url = "/admin/data/books/hitchhiker?edit"
            let form = try BrowserForm(await site.page(url)).with(["r0-type": "timestamp", "r0-value": "now"])
            let before = Timestamp.current()
            #expect(await site.post(url, form.text).status == .seeOther)
            let document = try #require(try await site.store.document(at: DocumentPath("books/hitchhiker")))
            guard case .timestamp(let time)? = try document.decoded().fields["author"] else {
                Issue.record("The field has no timestamp.")
                return
            }
            #expect(before.roundedDownToMilliseconds <= time && time <= Timestamp.current())
        }
    }

    static let path = "samples/edited"

    /// Edge cases of all value types.
    static let values: [Value] = [
        .null, .boolean(true), .boolean(false), .integer(.min), .integer(.max), .integer(9_007_199_254_740_993), .double(-0.0),
        .double(0.1), .double(.leastNonzeroMagnitude), .double(1.7976931348623157e308), .double(.nan), .double(.infinity),
        .double(-.infinity),
        .double(1), .timestamp(.minimum), .timestamp(.maximum), .string(""), .string(" a "), .string("\n\nb\n"), .string("a\tb"),
        .string("a\r\nb\rc"), .string("\u{0}"), .string("\u{202E}txt"), .string("e\u{301}"), .string("é"), .string("\"quoted\""),
        .string("#fd1c48"), .string("#ABC"), .string("#fd1c4880"), .string("</textarea><b>"), .string("&lt;"), .string("{{x}}"),
        .string(String(repeating: "ä", count: 10_000)), .bytes([]), .bytes([0, 255]), .bytes([UInt8](repeating: 7, count: 1_000)),
        .array([]), .map([:]), .vector([]), .vector([0.1, -0.0, .nan, 1e300]),
        .array([.null, .map(["a": .array([.string("x")]), "\u{202E}": .integer(1)]), .integer(2), .vector([1])]),
        .map(["$a": .integer(1), "a.b": .map(["c": .double(2)]), "\"": .string("\""), "\n": .null]),
    ]

    private static func fields() throws -> [MapValue] {
        let place = Value.geoPoint(try GeoPoint(validatingLatitude: -0.0, longitude: 179.99999999999997))
        let references = ["a/b", "a/\u{202E}b", "a/\"b\"", "ü/a b"]
        let more = [place] + (try references.map { Value.reference(try DocumentPath($0)) })
        return (values + more).map { ["value": $0] } + hostileNames.map { [UTF8Key($0): .string($0)] }
    }

    private static let hostileNames = [
        "a\0b", "\r", "\n", "\"", "\"\u{301} onfocus=alert(1)", "<script>", "\u{202E}", " ", " a", "`", "a.b", "$map", "é",
        "e\u{301}",
        "{{7*7}}", "&amp;",
    ]

    @Test
    func `Unchanged values round-trip exactly through the field editor and the JSON editor`() async throws {
        let documents = try Self.fields().enumerated().map { number, fields in (try DocumentPath("samples/d\(number)"), fields) }
        try await TestSite.with(documents.map { .create($0, $1) }) { site in
            for (path, fields) in documents {
                for view in ["edit", "edit=json"] {
                    let address = "\(AdminURL.document(path))?\(view)"
                    let page = try await site.page(address)
                    #expect(page.parseErrors == [])
                    let form = try BrowserForm(page)
                    let sent = try #require(Form(Array(form.text.utf8)))
                    if view == "edit" {
                        var problems = FormProblems()
                        #expect(EditorRows(sent)?.fields(addingTo: &problems) == fields)
                        #expect(problems.isEmpty)
                    } else {
                        #expect(try JSONInput.fields(sent["json"]?.string ?? "") == fields)
                    }
                    let response = await site.post(address, form.with(["do": "save"]).text)
                    #expect(response.status == .seeOther)
                    #expect(response.headers[.location] == AdminURL.document(path))
                    #expect(response.headers[.setCookie]?.hasPrefix("flash=unchanged;") == true)
                }
            }
        }
    }

    private func edited(
        _ fields: MapValue,
        _ changes: KeyValuePairs<String, String>,
        view: String = "edit"
    ) async throws -> (response: PageResponse, fields: MapValue?) {
        let path = try DocumentPath(Self.path)
        return try await TestSite.with([.create(path, fields)]) { site in
            let address = "/admin/data/\(Self.path)?\(view)"
            let form = try BrowserForm(await site.page(address)).with(changes).with([
                "do": changes.first { $0.key == "do" }?.value ?? "save"
            ])
            let response = await site.post(address, form.text)
            return (response, try await site.store.document(at: path)?.decoded().fields)
        }
    }

    @Test(
        arguments: [
            ("integer", "-5", "", Value.integer(-5)), ("integer", " 7 ", "", .integer(7)), ("integer", "−9", "", .integer(-9)),
            ("double", "5", "", .double(5)), ("double", "-0.0", "", .double(-0.0)), ("double", "1E3", "", .double(1_000)),
            ("double", "NaN", "", .double(.nan)), ("boolean", "true", "", .boolean(true)), ("null", "x", "", .null),
            ("string", "5", "", .string("5")), ("literal", #""\u0000""#, "", .string("\0")),
            ("color", "#FD1c48", "", .string("#FD1c48")),
            ("bytes", "DE ad", "hex", .bytes([0xde, 0xad])), ("bytes", "3q0=", "base64", .bytes([0xde, 0xad])),
            ("vector", "1, -2.5,3e1", "", .vector([1, -2.5, 30])), ("vector", "", "", .vector([])), ("map", "", "", .map([:])),
            ("array", "", "", .array([])),
        ]
    )
    func `The input for each type is parsed`(type: String, text: String, more: String, value: Value) async throws {
        let outcome = try await edited(["a": .string("before")], ["r0-type": type, "r0-value": text, "r0-more": more])
        #expect(outcome.response.status == .seeOther)
        #expect(outcome.fields == ["a": value])
    }

    @Test(
        arguments: ["map", "array", "boolean"]
    )
    func `Text is kept and reported when the type is changed to one without text`(type: String) async throws {
        let outcome = try await edited(["a": .string("before")], ["r0-type": type, "r0-value": "typed"])
        #expect(outcome.response.status == .unprocessableContent)
        #expect(outcome.fields == ["a": .string("before")])
        let page = try HTMLPage(outcome.response.body)
        #expect(page.parseErrors == [])
        #expect(try page.all("//p[@id='r0-value-error']").count == 1)
        if type != "boolean" { #expect(try page.one("//textarea[@id='r0-value']").text.contains("typed")) }
    }

    @Test(
        arguments: [
            ("add", [:], "input", "r3-name"), ("add-1", [:], "textarea", "r3-value"),
            ("types", ["r0-type": "integer"], "input", "r0-value"),
            ("types", ["r2-type": "null"], "select", "r2-type"), ("types", [:], nil, nil),
        ] as [(String, [String: String], String?, String?)]
    )
    func `The row that a button without scripts has changed has the focus`(
        action: String,
        changes: [String: String],
        element: String?,
        id: String?
    ) async throws {
        let fields: MapValue = ["a": .string("1"), "b": .array([.string("x")])]
        let path = try DocumentPath(Self.path)
        try await TestSite.with([.create(path, fields)]) { site in
            let address = "/admin/data/\(Self.path)?edit"
            var form = try BrowserForm(await site.page(address)).with(["do": action])
            for (name, value) in changes { form[name] = value }
            let page = try HTMLPage(await site.post(address, form.text).body)
            let focused = try page.all("//*[@id='rows']//*[@autofocus]")
            #expect(focused.map { $0["id"] } == (id.map { [$0] } ?? []))
            if let element, let id { #expect(try page.all("//\(element)[@id='\(id)']").count == 1) }
        }
    }

    @Test(arguments: [("remove-0", "remove-0"), ("remove-3", "remove-2"), ("up-3", "up-2"), ("down-2", "down-3")])
    func `Removing and moving rows focuses the button of the row that follows or moves`(
        action: String,
        focused: String
    ) async throws {
        let fields: MapValue = ["a": .string("1"), "b": .array([.string("x"), .string("y")])]
        let path = try DocumentPath(Self.path)
        try await TestSite.with([.create(path, fields)]) { site in
            let address = "/admin/data/\(Self.path)?edit"
            let form = try BrowserForm(await site.page(address)).with(["do": action])
            let page = try HTMLPage(await site.post(address, form.text).body)
            #expect(try page.all("//*[@id='rows']//*[@autofocus]").map { $0["value"] } == [focused])
        }
    }

    @Test
    func `The alert names the fields with errors by their paths`() async throws {
        let fields: MapValue = ["a": .string("1"), "tags": .array([.map(["color": .string("#fff")])])]
        let page = try HTMLPage(await edited(fields, ["r0-type": "integer", "r0-value": "x", "r3-value": "red"]).response.body)
        let problems = try page.texts("//*[@id='problems']//li")
        #expect(problems.map { $0.prefix { $0 != ":" } } == ["a", "tags[0].color"])
    }

    @Test(
        arguments: [
            ("2014-09-09T08:00:47.25Z", "2014-09-09T08:00:47.25Z"), ("2014-09-09 08:00:47 UTC", "2014-09-09T08:00:47Z"),
            ("2014-09-09 08:00:47.25", "2014-09-09T08:00:47.25Z"), (" 2014-09-09 08:00 ", "2014-09-09T08:00:00Z"),
            ("2014-09-09", "2014-09-09T00:00:00Z"), ("2014-09-09 10:00+02:00", "2014-09-09T08:00:00Z"),
            ("2014-09-09 08:00utc", "2014-09-09T08:00:00Z"), ("tomorrow", nil), ("", nil), ("2014-13-09", nil),
            ("2014-09-09x08:00", nil), ("2014-09-09 8", nil), ("2014-09-09T08:00:47.25ZZ", nil), ("UTC", nil),
        ] as [(String, String?)]
    )
    func `A time is accepted as pages show it`(text: String, time: String?) throws {
        let expected = try time.map { try Timestamp(rfc3339: $0) }
        #expect((try? TimestampInput.timestamp(text)) == expected)
    }

    @Test
    func `A map can be changed to an array after the names of its fields were deleted`() async throws {
        let fields: MapValue = ["m": .map(["k": .integer(1)])]
        let rejected = try await edited(fields, ["r0-type": "array"])
        #expect(rejected.response.status == .unprocessableContent)
        #expect(rejected.fields == fields)
        #expect(try HTMLPage(rejected.response.body).one("//input[@id='r1-name']")["value"] == "k")
        let done = try await edited(fields, ["r0-type": "array", "r1-name": ""])
        #expect(done.fields == ["m": .array([.integer(1)])])
    }

    @Test
    func `Timestamps with any UTC offset, geo points and references are parsed exactly`() async throws {
        let time = try await edited(["a": .null], ["r0-type": "timestamp", "r0-value": "2014-09-09T10:00:47.123456+02:00"])
        #expect(time.fields == ["a": .timestamp(try Timestamp(rfc3339: "2014-09-09T08:00:47.123456Z"))])
        let place = try await edited(["a": .null], ["r0-type": "geo-point", "r0-value": "53.5", "r0-more": "-9"])
        #expect(place.fields == ["a": .geoPoint(try GeoPoint(validatingLatitude: 53.5, longitude: -9))])
        let reference = try await edited(["a": .null], ["r0-type": "reference", "r0-value": "books/x"])
        #expect(reference.fields == ["a": .reference(try DocumentPath("books/x"))])
    }

    @Test(
        arguments: [
            ("integer", "1.0", ""), ("integer", "9223372036854775808", ""), ("integer", "", ""), ("integer", "١", ""),
            ("integer", "+5", ""), ("double", "nan", ""), ("double", "0x1p3", ""), ("double", "1e999", ""), ("double", "1,5", ""),
            ("timestamp", "2014-09-09 8 o’clock", ""), ("timestamp", "2014-02-30T00:00:00Z", ""), ("bytes", "abc", "hex"),
            ("bytes", "3q0", "base64"), ("color", "red", ""), ("color", "#ｆｆｆ", ""), ("literal", "x", ""), ("literal", "1", ""),
            ("reference", "books", ""), ("reference", "books/..", ""), ("geo-point", "91", "0"), ("geo-point", "0", ""),
            ("vector", "1 2", ""), ("vector", "a", ""),
        ]
    )
    func `Invalid input is reported beside its field and above the form, and is kept`(
        type: String,
        text: String,
        more: String
    ) async throws {
        let outcome = try await edited(["a": .null], ["r0-type": type, "r0-value": text, "r0-more": more])
        #expect(outcome.response.status == .unprocessableContent)
        #expect(outcome.fields == ["a": .null])
        let page = try HTMLPage(outcome.response.body)
        let problem = try page.one("//*[@id='problems']//a[@href='#r0-value']").text
        #expect(problem == "a: \(try page.one("//*[@id='r0-value-error']").text)")
        #expect(try page.one("//*[@id='problems']")["autofocus"] != nil)
        let form = try BrowserForm(page)
        #expect(form["r0-value"] == text)
        #expect(form["r0-type"] == type)
    }

    @Test(arguments: ["", "b", "\"b\"", "\"", "\"b"])
    func `Empty and duplicate field names are rejected`(name: String) async throws {
        let outcome = try await edited(["a": .null, "b": .null], ["r0-name": name])
        #expect(outcome.response.status == .unprocessableContent)
        #expect(try HTMLPage(outcome.response.body).all("//*[@class='field-error']").count == 1)
    }

    @Test
    func `Buttons add, remove and move rows with their contents`() async throws {
        let fields: MapValue = ["list": .array([.map(["a": .integer(1)]), .integer(2), .integer(3)]), "z": .null]
        let steps: [(String, [String])] = [
            ("add", ["list", "0", "a", "1", "2", "z", "new"]), ("add-0", ["list", "0", "a", "1", "2", "new", "z"]),
            ("add-1", ["list", "0", "a", "new", "1", "2", "z"]), ("remove-1", ["list", "2", "3", "z"]),
            ("remove-0", ["z"]), ("up-3", ["list", "2", "0", "a", "2"]), ("nothing-9", ["list", "0", "a", "1", "2", "z"]),
        ]
        for (action, expected) in steps {
            let outcome = try await edited(fields, ["do": action])
            #expect(outcome.response.status == .ok)
            #expect(outcome.fields == fields)
            #expect(
                try HTMLPage(outcome.response.body).all("//li[contains(@class,'row')]").count
                    == max(expected.count, action == "up-3" ? 6 : 0)
            )
        }
        var rows = EditorRows(fields)
        rows.apply("up-3")
        var problems = FormProblems()
        #expect(rows.fields(addingTo: &problems)?["list"] == .array([.integer(2), .map(["a": .integer(1)]), .integer(3)]))
        rows.apply("down-1")
        #expect(rows.fields(addingTo: &problems) == fields)
    }

    @Test
    func `A map with contents cannot be changed to another type`() async throws {
        let fields: MapValue = ["a": .map(["b": .integer(1)])]
        let outcome = try await edited(fields, ["r0-type": "string"])
        #expect(outcome.response.status == .unprocessableContent)
        #expect(outcome.fields == fields)
    }

    @Test(
        arguments: [
            ("{\n  \"a\": 1,\n}", 3, 1), ("{\"a\": {\"$nothing\": 1}}", 1, 20), ("[1]", 1, 1), ("", 1, 1),
            ("{\"a\":\n 99999999999999999999}", 2, 2),
            ("{\"a\": 1, \"a\": 2}", 1, 10),
        ]
    )
    func `Invalid JSON is reported with its position, and is kept`(text: String, line: Int, column: Int) async throws {
        let outcome = try await edited(["a": .null], ["json": text], view: "edit=json")
        #expect(outcome.response.status == .unprocessableContent)
        let page = try HTMLPage(outcome.response.body)
        #expect(try page.one("//*[@id='json-error']").text.hasPrefix("Line \(line), column \(column):"))
        #expect(try BrowserForm(page)["json"] == text)
    }

    @Test
    func `A large document is opened in the JSON editor with a note`() async throws {
        let fields: MapValue = ["text": .string(String(repeating: "x", count: 1_000_000))]
        try await TestSite.with([.create(DocumentPath(Self.path), fields)]) { site in
            let page = try await site.page("/admin/data/\(Self.path)?edit")
            #expect(try page.one("//*[@id='main']").text.contains("too large for the field editor"))
            let changed = try BrowserForm(page)
            let json = try #require(changed["json"]).replacing("\"text\"", with: "\"more\"")
            #expect(
                await site.post("/admin/data/\(Self.path)?edit", changed.with(["json": json, "do": "save"]).text).status
                    == .seeOther
            )
        }
    }

    @Test
    func `The editor requires write permission for the collection`() async throws {
        try await TestSite.with([.create(DocumentPath(Self.path), [:])]) { site in
            let reader = try site.keys.authenticate(Array(try await site.keys.create(.init(role: .reader)).text.utf8))
            let made = try await site.keys.create(.init(role: .writer, collections: [CollectionPath("books")]))
            let other = try site.keys.authenticate(Array(made.text.utf8))
            for caller in [reader, other] {
                for address in ["/admin/data/\(Self.path)?edit", "/admin/data/samples?new"] {
                    let denied = await site.post(address, "as=json&json=%7B%22a%22%3A1%7D&do=save&base=", as: caller)
                    #expect(denied.status == .forbidden || denied.status == .conflict)
                    #expect(caller == other || denied.status == .forbidden)
                }
                #expect(await site.get("/admin/data/\(Self.path)?edit", as: caller).status == .forbidden)
            }
        }
    }
}
