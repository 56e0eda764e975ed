import DocumentModel
import DocumentStore
import HTTPTypes
import HearthService
import StrictJSON
import Testing

@testable import HearthAdmin

@Suite("Files that are imported")
struct ImportReaderTests {
    /// What a file is read as: a line each, `line: path fields` or `line: what is wrong`.
    private func read(_ text: String, _ name: UTF8Key, _ plan: ImportPlan = ImportPlan()) async throws -> [String] {
        var found: [String] = []
        try await ImportReader(Array(text.utf8), name: name, plan: plan).read { result throws(StatusError) in
            switch result {
            case .success(let entry):
                var writer = JSONWriter()
                entry.fields.write(to: &writer)
                let isAutomatic = entry.path.id.key.byteCount == 20
                let path = isAutomatic ? entry.path.collection.string + "/*" : entry.path.string
                found.append("\(entry.line): \(path) \(String(decoding: writer.finish(), as: UTF8.self))")
            case .failure(let fault): found.append("\(fault.line): \(fault.error.message.prefix(24))")
            }
            return true
        }
        return found
    }

    @Test("Lines and arrays of JSON are documents with their paths, or fields for a collection")
    func json() async throws {
        let lines = "{\"path\":\"a/1\",\"fields\":{\"n\":1}}\n\n{\"path\":\"a\",\"fields\":{}}\n{]\n{\"n\":1.0}"
        #expect(
            try await read(lines, "x.ndjson") == [
                "1: a/1 {\"n\":1}", try Self.pathFault(), "4: Not JSON: expected a key", "5: The document doesn't say",
            ]
        )
        let plan = ImportPlan(collection: try CollectionPath("b"), idField: "n")
        #expect(
            try await read("[{\"n\":1,\"x\":2},\n {\"n\":\"two\"},\n {}, {\"n\":null}]", "x.json", plan) == [
                "1: b/1 {\"x\":2}", "2: b/two {}", "3: There is no field \"n\" to", "3: The field \"n\" is no text",
            ]
        )
        #expect(
            try await read("{\"one\": {\"a\": {\"$timestamp\": \"2014-09-09T08:00:47Z\"}}}", "x.json", plan) == [
                "1: b/one {\"a\":{\"$timestamp\":\"2014-09-09T08:00:47.000000Z\"}}"
            ]
        )
    }

    private static func pathFault() throws -> String {
        do throws(StatusError) {
            _ = try DocumentPath("a")
            return ""
        } catch {
            return "3: \(error.message.prefix(24))"
        }
    }

    @Test(
        "Cells of a table become what they look like, and nothing that would change them",
        arguments: [
            ("5", "5"), ("-5", "-5"), ("007", "\"007\""), ("0", "0"), ("0.5", "0.5"), ("1e3", "1000.0"), ("true", "true"),
            ("null", "null"),
            ("\"5\"", "\"5\""), ("\"\"", "\"\""), ("99999999999999999999", "1e+20"), ("+5", "\"+5\""), ("0x10", "\"0x10\""),
            ("a", "\"a\""),
            ("2014-09-09T08:00:47Z", "{\"$timestamp\":\"2014-09-09T08:00:47.000000Z\"}"), ("\"[1,\"\"x\"\"]\"", "[1,\"x\"]"),
            ("\"{\"\"a\"\":1}\"", "{\"a\":1}"), ("[", "\"[\""), ("\"a,b\r\nc\"", "\"a,b\\r\\nc\""), ("'=1", "\"'=1\""),
            ("NaN", "{\"$double\":\"NaN\"}"),
        ]
    )
    func cells(cell: String, json: String) async throws {
        let plan = ImportPlan(collection: try CollectionPath("c"))
        #expect(try await read("a,b\r\n\(cell),1\r\n", "x.csv", plan) == ["2: c/* {\"a\":\(json),\"b\":1}"])
    }

    @Test("Tables name fields by path, leave out what is empty, and take IDs from a column")
    func tables() async throws {
        let plan = ImportPlan(collection: try CollectionPath("c"))
        let table = "\u{FEFF}__name__,m.x,two words\n1,2,\n\n\"q\"\"\",,3\n1,2\n"
        #expect(
            try await read(table, "x.csv", plan) == [
                "2: c/1 {\"m\":{\"x\":2}}", "4: c/q\" {\"two words\":3}", "5: Expected 3 cells as in t",
            ]
        )
        #expect(try await read("a,a\n1,2", "x.csv", plan) == ["1: The column \"a\" is there "])
        #expect(try await read("a\n\"x", "x.csv", plan) == ["2: A cell begins with a quo"])
        #expect(try await read("a\n\"x\"y", "x.csv", plan) == ["2: Expected a comma or the "])
    }

    @Test("The mark before formulas is undone only where the table says that it is one")
    func mark() async throws {
        let plan = ImportPlan(collection: try CollectionPath("c"))
        let table = "a\r\n'=1+1\r\n"
        #expect(try await read(table, "x.csv", plan) == ["2: c/* {\"a\":\"'=1+1\"}"])
        #expect(try await read("\(CSVRows.markComment)\r\n\(table)", "x.csv", plan) == ["3: c/* {\"a\":\"=1+1\"}"])
    }
}

@Suite("Importing in the browser")
struct ImportPageTests {
    private func send(_ site: TestSite, _ file: String, name: String = "x.ndjson", collection: String = "") async -> PageResponse
    {
        let parts = [
            "Content-Disposition: form-data; name=\"form-token\"\r\n\r\n\(TestSite.token())",
            "Content-Disposition: form-data; name=\"collection\"\r\n\r\n\(collection)",
            "Content-Disposition: form-data; name=\"file\"; filename=\"\(name)\"\r\nContent-Type: text/plain\r\n\r\n\(file)",
        ]
        let body = parts.map { "--XX\r\n\($0)\r\n" }.joined() + "--XX--\r\n"
        return await site.pages.response(
            to: AdminPages.PageRequest(
                method: .post,
                path: "/admin/import",
                formType: "multipart/form-data; boundary=XX",
                form: Array(body.utf8)
            )
        )
    }

    @Test("A file is checked first, and written when that is asked for")
    func twoSteps() async throws {
        try await TestSite.with { site in
            let response = await send(
                site,
                "{\"path\":\"a/1\",\"fields\":{}}\n{\"path\":\"a/2\"}\n{\"path\":\"a/<b>\",\"fields\":{}}"
            )
            #expect(response.status == .seeOther)
            let address = try #require(response.headers[.location])
            let page = try await site.page(address)
            #expect(try page.one("//section/p[1]").text == "2 documents can be imported. 1 cannot.")
            #expect(try page.texts("//ul[@class='sample']//a") == ["a/1", "a/<b>"])
            #expect(try page.texts("//ul[@class='faults']/li/code") == ["line 2"])
            let collection = try CollectionPath("a")
            #expect(
                try await site.store.documents(in: collection, after: nil, limit: 9, includingMissing: false).documents.isEmpty
            )
            let button = try page.one("//button[@name='upload']")
            let done = await site.post("/admin/import", "upload=\(try #require(button["value"]))")
            #expect(done.status == .seeOther)
            let result = try await site.page(try #require(done.headers[.location]))
            #expect(try result.one("//p[@class='count']").text == "2 documents imported")
            #expect(
                try await site.store.documents(in: collection, after: nil, limit: 9, includingMissing: false).documents.count == 2
            )
        }
    }

    @Test("A table goes to the collection that is named")
    func table() async throws {
        try await TestSite.with { site in
            let response = await send(site, "__name__,n\none,1\n", name: "t.csv", collection: "books")
            let page = try await site.page(try #require(response.headers[.location]))
            let button = try page.one("//button[@name='upload']")
            let done = await site.post("/admin/import", "upload=\(try #require(button["value"]))")
            #expect(done.headers[.location] == "/admin/data/books")
            #expect(done.headers[.setCookie]?.hasPrefix("flash=imported.1;") == true)
            let path = try DocumentPath("books/one")
            #expect(try await site.store.document(at: path)?.decoded().fields == ["n": .integer(1)])
        }
    }

    @Test("A form without a file, or for no collection, is shown again", arguments: [("", ""), ("x", "a/b")])
    func faults(file: String, collection: String) async throws {
        try await TestSite.with { site in
            #expect(await send(site, file, collection: collection).status == .unprocessableContent)
        }
    }

    @Test(
        "A form with a file is read as browsers send it, and nothing else",
        arguments: [
            ("--XX\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n2\r\n--XX--\r\n", "a=1\n2"),
            ("--XX\r\nCONTENT-DISPOSITION: form-data; name=\"a;b\"\r\n\r\n\r\n--XX--", nil), ("--XX--", ""), ("", nil),
            ("--XX\r\n\r\n--XX--", nil),
            ("--XX\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1", nil), ("--YY\r\n", nil),
            ("--XX\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n--XX\r\n--XX--", nil),
        ] as [(String, String?)]
    )
    func multipart(body: String, items: String?) {
        let form = MultipartForm(Array(body.utf8), contentType: "multipart/form-data; boundary=\"XX\"")
        #expect(form?.items.map { "\($0.name)=\($0.value)" }.joined(separator: "&") == items)
    }
}

@Suite("Hostile values in forms")
struct HostileFormTests {
    @Test("What stands in the fields of forms, and in what is said of them, stays text", arguments: HostileValueTests.texts)
    func inert(text: String) async throws {
        let name = UTF8Key(text.beginning(scalars: 300).text)
        let fields: MapValue = [name: .string(text), "m": .map([name: .array([.string(text)])])]
        let path = try DocumentPath("hostile/value")
        try await TestSite.with([.create(path, fields)]) { site in
            _ = try await site.store.commit([.set(path, ["x": .string(text)])])
            _ = try await site.store.commit([.set(path, fields)])
            for address in ["?edit", "?edit=json", "?history", "?delete"] {
                let page = try await site.page("/admin/data/hostile/value\(address)")
                try check(page, address)
                for line in page.source.utf8.split(separator: UInt8(ascii: "\n")) {
                    let marks = DisplayText(String(Substring(line))).runs.compactMap(\.mark).filter {
                        ![" ", "\t"].contains($0.scalar)
                    }
                    #expect(marks == [], "\(address)")
                }
            }
            let encoded = text.utf8.map { "%" + String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
            for (address, form) in [
                ("/admin/data/hostile/value?edit", "as=json&json=\(encoded)&base=&do=save"),
                ("/admin/data/hostile?new", "id=\(encoded)%2F&as=json&json=%7B%7D&do=save"),
                ("/admin/?new", "collection=\(encoded)%2Fa"),
                ("/admin/settings", "do=create&collection=\(encoded)%2F&fields=\(encoded)"),
                ("/admin/data/hostile?delete", "name=\(encoded)"), ("/admin/data/hostile/value?restore", "version=\(encoded)"),
            ] {
                let response = await site.post(address, form)
                // What was typed is shown again as it is, which no browser can type a NUL into.
                guard response.status != .seeOther, !text.utf8.contains(0) else { continue }
                try check(try HTMLPage(response.body), "\(address) \(form)")
            }
        }
    }

    private func check(_ page: HTMLPage, _ comment: String) throws {
        #expect(page.complaints == [], "\(comment)")
        #expect(try page.all("//script").allSatisfy { $0["src"]?.hasPrefix("/admin/assets/") == true && $0.text.isEmpty })
        #expect(try page.all("//img").count == 1)
        #expect(try page.all("//iframe|//object|//embed|//base|//b").isEmpty)
        for form in try page.all("//form") { #expect(form["action"]?.utf8.starts(with: "/admin/".utf8) == true) }
        let handlers = try page.all("//*").flatMap { $0.attributes.map(\.name) }.filter {
            $0.hasPrefix("on") || $0 == "style" || $0 == "srcdoc"
        }
        #expect(handlers == [])
    }
}
