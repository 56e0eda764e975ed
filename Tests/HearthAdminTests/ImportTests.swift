import DocumentModel
import Gzip
import HearthService
import StrictJSON
import Synchronization
import Testing

@testable import HearthAdmin

@Suite("Files that are imported")
struct ImportReaderTests {
    /// What a file is read as: a line each, `line: path fields` or `line: what is wrong`.
    private func read(_ text: String, _ name: UTF8Key, _ plan: ImportPlan = ImportPlan()) async throws -> [String] {
        try await read(Array(text.utf8), name, plan)
    }

    /// The same, of which each part of the file has so many bytes.
    private func read(
        _ bytes: [UInt8],
        _ name: UTF8Key,
        _ plan: ImportPlan,
        limit: Int = ImportFile.maximumUncompressedBytes,
        partBytes: Int = 256 << 10
    ) async throws -> [String] {
        var found: [String] = []
        let file = try await ImportFile.sent(bytes, name: name)
        let parts = ImportBytes(file, uncompressedLimit: limit, partBytes: partBytes)
        var reader = ImportReader(parts, name: name, plan: plan)
        try await reader.read { result throws(StatusError) in
            switch result {
            case .success(let entry):
                var writer = JSONWriter()
                entry.fields.write(to: &writer)
                let isAutomatic = entry.path.id.key.byteCount == 20
                let path = isAutomatic ? entry.path.collection.string + "/*" : entry.path.string
                found.append("\(entry.line): \(path) \(String(decoding: writer.finish(), as: UTF8.self))")
            case .failure(let fault): found.append("\(fault.place.line): \(fault.error.message.prefix(24))")
            }
            return true
        }
        return found
    }

    private static let files: [(name: UTF8Key, text: String)] = [
        (
            "x.json",
            "\u{FEFF} [ {\"path\":\"a/1\",\"fields\":{\"s\":\"]},{\\\"\"}},\n{\"path\":\"a/2\",\"fields\":{\"l\":[[1]]}}\n, {\"path\":\"a/3\",\"fields\":{}} ]\n"
        ),
        ("x.json", "{\"one\":{\"a\":1},\n \"two\": {\"path\":\"p\"}}"), ("x.json", "{\"fields\":{\"a\":1},\"path\":\"a/1\"}"),
        ("x.json", "[]"), ("x.json", "[1,]"), ("x.json", "[{}"), ("x.json", "[{}} "), ("x.json", "{} x"), ("x.json", " "),
        ("x.json", "[{},,{}]"),
        ("x.ndjson", "\u{FEFF}{\"path\":\"a/1\",\"fields\":{}}\r\n\n{\"x\":\"é\"}"),
        (
            "x.csv",
            "\u{FEFF}# hearth: a ' before a formula is a mark\r\na,b\r\n\"'[1]\",\"[1]\"\r\n\"q\"\"\r\nq\",x\r\n\r\n,\"\"\r\n"
        ),
        ("x.csv", "a\n\"x\"\"\n"), ("x.csv", "a"), ("x.csv", "# hearth: a ' before a formula is a mark"),
    ]

    @Test("Into whatever parts a file is cut, it is read as the same", arguments: files.indices)
    func parts(number: Int) async throws {
        let (name, text) = Self.files[number]
        let plan = ImportPlan(collection: try CollectionPath("c"))
        let whole = try await read(text, name, plan)
        for size in [1, 2, 3, 5, 7, 16] {
            #expect(try await read(Array(text.utf8), name, plan, partBytes: size) == whole, "\(size)")
            let packed = GzipStream.compress(Array(text.utf8))
            #expect(try await read(packed, UTF8Key("\(name.string).gz"), plan, partBytes: size) == whole, "packed, \(size)")
        }
    }

    @Test(
        "What is wrong is told with its line and column in the file",
        arguments: [
            ("x.ndjson", "{\"path\":\"a/1\",\"fields\":{}}\n{\"x\":tru}", "2:9"),
            ("x.ndjson", "\n{\"x\":{\"$timestamp\":\"no\"}}", "2:20"),
            // Of what the rules for documents forbid only the field is known, and where the document begins.
            ("x.ndjson", "\n{\"x\":[[1]]}", "2:0"),
            ("x.json", "[{\"x\": 1},\n {\"x\": 2,\n  \"é\": [1, tru]}]", "3:15"),
            ("x.json", "[\n  {\"x\": 1}, {\"x\": {\"$timestamp\": \"no\"}}]", "2:34"),
            ("x.json", "{\"a\": {},\n\n \"b\": {\"x\":\n[ {\"$timestamp\":\"no\"}]}}", "4:17"),
            ("x.json", "{\"a\": {}, \"b\": {\"x\": 01}}", "1:23"),
            ("x.json", "{\"path\": \"a/1\",\n\n\n\"fields\": {\"x\":\n  [{\"$timestamp\":\"no\"}]}}", "5:18"),
            ("x.json", "[{\"x\": 1}\n, ,", "2:3"), ("x.json", "[{\"x\": 1}\n  ", "2:3"),
        ] as [(UTF8Key, String, String)]
    )
    func places(name: UTF8Key, text: String, place: String) async throws {
        for size in [1, 4, 1_000] {
            let file = try await ImportFile.sent(Array(text.utf8), name: name)
            let plan = ImportPlan(collection: try CollectionPath("c"))
            var reader = ImportReader(ImportBytes(file, partBytes: size), name: name, plan: plan)
            var found: [String] = []
            try await reader.read { result throws(StatusError) in
                guard case .failure(let fault) = result else { return true }
                found.append("\(fault.place.line):\(fault.place.column ?? 0)")
                #expect(!fault.error.message.contains("column"))
                return true
            }
            #expect(found == [place])
        }
    }

    @Test("The documents of JSON are told apart, and what is between them is said")
    func pieces() async throws {
        let plan = ImportPlan(collection: try CollectionPath("c"))
        let array = try await read(Self.files[0].text, "x.json", plan)
        #expect(array.map { $0.prefix(2) } == ["1:", "2:", "3:"])
        #expect(array[0] == "1: a/1 {\"s\":\"]},{\\\"\"}")
        #expect(array[2] == "3: a/3 {}")
        #expect(try await read(Self.files[1].text, "x.json", plan) == ["1: c/one {\"a\":1}", "2: c/two {\"path\":\"p\"}"])
        #expect(try await read(Self.files[2].text, "x.json", plan) == ["1: a/1 {\"a\":1}"])
        for (text, fault) in [
            ("[1,]", "1: Not JSON: Expected a doc"), ("[{}", "1: Not JSON: The file ends "),
            ("{} x", "1: Not JSON: Expected noth"),
            ("[{},,{}]", "1: Not JSON: Expected a doc"), ("x", "1: Not JSON: Expected an a"),
            ("[{]}]", "1: Not JSON: A bracket is c"),
        ] {
            let found = try await read(text, "x.json", plan)
            #expect(found.last?.hasPrefix(fault.prefix(25)) == true, "\(text): \(found)")
        }
    }

    @Test("What is compressed comes to no more than it may, and what is damaged is said to be")
    func compressed() async throws {
        let line = "{\"path\":\"a/1\",\"fields\":{}}\n"
        let packed = GzipStream.compress(Array(String(repeating: line, count: 10_000).utf8))
        #expect(packed.count < 5_000)
        let plan = ImportPlan()
        #expect(try await read(packed, "x.ndjson.gz", plan).count == 10_000)
        let cut = try await read(packed, "x.ndjson.gz", plan, limit: 100_000)
        #expect(cut.count < 5_000)
        #expect(cut.last?.hasSuffix("The file comes to more t") == true)
        #expect(
            try await read(Array(packed.dropLast(9)), "x.ndjson.gz", plan).last?.hasSuffix("The compression of the f") == true
        )
        #expect(try await read(packed + [1, 2], "x", plan).last?.hasSuffix("The compression of the f") == true)
        #expect(try await read(packed + packed, "x", plan).count == 20_000)
    }

    @Test(
        "The ending of a file's name tells its format, in small and capital letters",
        arguments: [
            ("BOOKS.JSON", .json), ("books.Json.GZ", .json), ("DATA.CSV.GZ", .csv), ("x.NDJSON", .ndjson),
            ("x.JsonL.gz", .ndjson),
            ("csv", .csv), ("x.gz", .ndjson), ("x.JSON\u{AD}", .ndjson), ("", .ndjson),
        ] as [(UTF8Key, ImportFormat)]
    )
    func endings(name: UTF8Key, format: ImportFormat) {
        #expect(ImportFormat.format(ofName: name, Array("{".utf8)) == format)
    }

    @Test(
        "Reading stops within a part of the file, whatever it holds, and what is cut off is not taken for anything",
        arguments: [
            ("x.ndjson", "", "\n"), ("x.json", "", " "), ("x.json", "[{\"a\":\"", "x"), ("x.csv", "a\n", "\r\n"),
            ("x.csv", "a\n", "x"),
            ("x.csv", "a\n\"", "x"),
        ] as [(UTF8Key, String, String)]
    )
    func stopping(name: UTF8Key, beginning: String, rest: String) async throws {
        try await stop(Array((beginning + String(repeating: rest, count: 10_000)).utf8), name)
    }

    @Test("Reading stops within a part of what is compressed and comes to nothing")
    func stoppingEmpty() async throws {
        let member = GzipStream.compress([])
        try await stop(Array(repeatElement(member, count: 1_000).joined()), "x.ndjson.gz")
    }

    /// Reads a file of which nothing comes before reading is stopped.
    private func stop(_ bytes: [UInt8], _ name: UTF8Key) async throws {
        let askedCount = Mutex(0)
        let parts = ImportBytes(try await .sent(bytes, name: name), partBytes: 1_000) {
            askedCount.withLock { count in
                count += 1
                return count > 3
            }
        }
        var reader = ImportReader(parts, name: name, plan: ImportPlan(collection: try CollectionPath("c")))
        var foundCount = 0
        try await reader.read { _ throws(StatusError) in
            foundCount += 1
            return true
        }
        #expect(foundCount == 0)
        #expect(askedCount.withLock { $0 } == 4)
    }

    @Test("Columns that would overwrite each other are refused", arguments: ["m,m.x", "m.x,m", "__name__,a.b.c,x,a"])
    func overlaps(header: String) async throws {
        let plan = ImportPlan(collection: try CollectionPath("c"))
        let cells = header.split(separator: ",").map { _ in "1" }.joined(separator: ",")
        let found = try await read("\(header)\n\(cells)\n", "x.csv", plan)
        #expect(found.count == 1 && found[0].hasPrefix("1: The column"))
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
