import DocumentModel
import Gzip
import HearthAPI
import StrictJSON
import Synchronization
import Testing
import UTF8Text

@testable import HearthAdmin

@Suite("Import reader")
struct ImportReaderTests {
    /// Reads a file and returns `line: path fields` or `line: error` for each record.
    private func read(_ text: String, _ name: UTF8Key, _ options: ImportOptions = ImportOptions()) async throws -> [String] {
        try await read(Array(text.utf8), name, options)
    }

    /// Reads a file in chunks of a size.
    private func read(
        _ bytes: [UInt8],
        _ name: UTF8Key,
        _ options: ImportOptions,
        limit: Int = UploadedFile.maximumDecompressedBytes,
        chunkBytes: Int = 256 << 10
    ) async throws -> [String] {
        var found: [String] = []
        let file = try await UploadedFile.make(bytes, name: name)
        let chunks = UploadedFileReader(file, decompressedLimit: limit, chunkBytes: chunkBytes)
        var reader = ImportReader(chunks, name: name, options: options)
        try await reader.read { result throws(StatusError) in
            switch result {
            case .success(let record):
                var writer = JSONWriter()
                record.fields.write(to: &writer)
                let isAutomatic = record.path.id.key.byteCount == 20
                let path = isAutomatic ? record.path.collection.string + "/*" : record.path.string
                found.append("\(record.line): \(path) \(String(decoding: writer.finish(), as: UTF8.self))")
            case .failure(let error): found.append("\(error.position.line): \(error.error.message.prefix(24))")
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
        ("x.csv", "\u{FEFF}'__name__,a\r\nx,'=1\r\n"), ("x.csv", "\"'__name__\",a\nx,'=1"), ("x.csv", "'__name__x,a\nx,'=1"),
        ("x.csv", "'__name__"), ("x.csv", "'__name"),
    ]

    @Test(arguments: files.indices)
    func `The result does not depend on the chunk size`(number: Int) async throws {
        let (name, text) = Self.files[number]
        let options = ImportOptions(collection: try CollectionPath("c"))
        let whole = try await read(text, name, options)
        for size in [1, 2, 3, 5, 7, 16] {
            #expect(try await read(Array(text.utf8), name, options, chunkBytes: size) == whole, "\(size)")
            let packed = GzipCompressor.compress(Array(text.utf8))
            #expect(try await read(packed, UTF8Key("\(name.string).gz"), options, chunkBytes: size) == whole, "gzip, \(size)")
        }
    }

    @Test(
        arguments: [
            ("x.ndjson", "{\"path\":\"a/1\",\"fields\":{}}\n{\"x\":tru}", "2:9"),
            ("x.ndjson", "\n{\"x\":{\"$timestamp\":\"no\"}}", "2:20"),
            // A violation of document limits has only the line where the document begins.
            ("x.ndjson", "\n{\"x\":[[1]]}", "2:0"),
            ("x.json", "[{\"x\": 1},\n {\"x\": 2,\n  \"é\": [1, tru]}]", "3:15"),
            ("x.json", "[\n  {\"x\": 1}, {\"x\": {\"$timestamp\": \"no\"}}]", "2:34"),
            ("x.json", "{\"a\": {},\n\n \"b\": {\"x\":\n[ {\"$timestamp\":\"no\"}]}}", "4:17"),
            ("x.json", "{\"a\": {}, \"b\": {\"x\": 01}}", "1:23"),
            ("x.json", "{\"path\": \"a/1\",\n\n\n\"fields\": {\"x\":\n  [{\"$timestamp\":\"no\"}]}}", "5:18"),
            ("x.json", "[{\"x\": 1}\n, ,", "2:3"), ("x.json", "[{\"x\": 1}\n  ", "2:3"),
        ] as [(UTF8Key, String, String)]
    )
    func `Errors have their line and column in the file`(name: UTF8Key, text: String, position: String) async throws {
        for size in [1, 4, 1_000] {
            let file = try await UploadedFile.make(Array(text.utf8), name: name)
            let options = ImportOptions(collection: try CollectionPath("c"))
            var reader = ImportReader(UploadedFileReader(file, chunkBytes: size), name: name, options: options)
            var found: [String] = []
            try await reader.read { result throws(StatusError) in
                guard case .failure(let error) = result else { return true }
                found.append("\(error.position.line):\(error.position.column ?? 0)")
                #expect(!error.error.message.contains("column"))
                return true
            }
            #expect(found == [position])
        }
    }

    @Test
    func `JSON arrays and objects are split into documents, and errors between them are reported`() async throws {
        let options = ImportOptions(collection: try CollectionPath("c"))
        let array = try await read(Self.files[0].text, "x.json", options)
        #expect(array.map { $0.prefix(2) } == ["1:", "2:", "3:"])
        #expect(array[0] == "1: a/1 {\"s\":\"]},{\\\"\"}")
        #expect(array[2] == "3: a/3 {}")
        #expect(try await read(Self.files[1].text, "x.json", options) == ["1: c/one {\"a\":1}", "2: c/two {\"path\":\"p\"}"])
        #expect(try await read(Self.files[2].text, "x.json", options) == ["1: a/1 {\"a\":1}"])
        for (text, error) in [
            ("[1,]", "1: Invalid JSON: Expected a "), ("[{}", "1: Invalid JSON: Unexpected "),
            ("{} x", "1: Invalid JSON: Unexpected "),
            ("[{},,{}]", "1: Invalid JSON: Expected a "), ("x", "1: Invalid JSON: Expected an"),
            ("[{]}]", "1: Invalid JSON: Mismatched "),
        ] {
            let found = try await read(text, "x.json", options)
            #expect(found.last?.hasPrefix(error.prefix(25)) == true, "\(text): \(found)")
        }
    }

    @Test
    func `Compressed files are limited in decompressed size, and damaged ones are reported`() async throws {
        let line = "{\"path\":\"a/1\",\"fields\":{}}\n"
        let packed = GzipCompressor.compress(Array(String(repeating: line, count: 10_000).utf8))
        #expect(packed.count < 5_000)
        let options = ImportOptions()
        #expect(try await read(packed, "x.ndjson.gz", options).count == 10_000)
        let cut = try await read(packed, "x.ndjson.gz", options, limit: 100_000)
        #expect(cut.count < 5_000)
        #expect(cut.last?.hasSuffix("The decompressed file ex") == true)
        #expect(
            try await read(Array(packed.dropLast(9)), "x.ndjson.gz", options).last?.hasSuffix("The gzip data is damaged") == true
        )
        #expect(try await read(packed + [1, 2], "x", options).last?.hasSuffix("The gzip data is damaged") == true)
        #expect(try await read(packed + packed, "x", options).count == 20_000)
    }

    @Test(
        arguments: [
            ("BOOKS.JSON", .json), ("books.Json.GZ", .json), ("DATA.CSV.GZ", .csv), ("x.NDJSON", .ndjson),
            ("x.JsonL.gz", .ndjson),
            ("csv", .csv), ("x.gz", .ndjson), ("x.JSON\u{AD}", .ndjson), ("", .ndjson),
        ] as [(UTF8Key, ImportFormat)]
    )
    func `The format is detected by the file extension, ignoring case`(name: UTF8Key, format: ImportFormat) {
        #expect(ImportFormat.detect(fileName: name, firstBytes: Array("{".utf8)) == format)
    }

    @Test(
        arguments: [
            ("x.ndjson", "", "\n"), ("x.json", "", " "), ("x.json", "[{\"a\":\"", "x"), ("x.csv", "a\n", "\r\n"),
            ("x.csv", "a\n", "x"),
            ("x.csv", "a\n\"", "x"),
        ] as [(UTF8Key, String, String)]
    )
    func `Cancellation takes effect within a chunk and discards an incomplete record`(
        name: UTF8Key,
        beginning: String,
        rest: String
    ) async throws {
        try await stop(Array((beginning + String(repeating: rest, count: 10_000)).utf8), name)
    }

    @Test
    func `Cancellation takes effect within a chunk of empty gzip members`() async throws {
        let member = GzipCompressor.compress([])
        try await stop(Array(repeatElement(member, count: 1_000).joined()), "x.ndjson.gz")
    }

    /// Cancels reading at the fourth chunk and expects no records.
    private func stop(_ bytes: [UInt8], _ name: UTF8Key) async throws {
        let askedCount = Mutex(0)
        let chunks = UploadedFileReader(try await .make(bytes, name: name), chunkBytes: 1_000) {
            askedCount.withLock { count in
                count += 1
                return count > 3
            }
        }
        var reader = ImportReader(chunks, name: name, options: ImportOptions(collection: try CollectionPath("c")))
        var foundCount = 0
        try await reader.read { _ throws(StatusError) in
            foundCount += 1
            return true
        }
        #expect(foundCount == 0)
        #expect(askedCount.withLock { $0 } == 4)
    }

    @Test(arguments: ["m,m.x", "m.x,m", "__name__,a.b.c,x,a"])
    func `Duplicate and nested columns are rejected`(header: String) async throws {
        let options = ImportOptions(collection: try CollectionPath("c"))
        let cells = header.split(separator: ",").map { _ in "1" }.joined(separator: ",")
        let found = try await read("\(header)\n\(cells)\n", "x.csv", options)
        #expect(found.count == 1 && found[0].hasPrefix("1: Column"))
    }

    @Test
    func `NDJSON and JSON contain documents with paths, or fields for the collection`() async throws {
        let lines = "{\"path\":\"a/1\",\"fields\":{\"n\":1}}\n\n{\"path\":\"a\",\"fields\":{}}\n{]\n{\"n\":1.0}"
        #expect(
            try await read(lines, "x.ndjson") == [
                "1: a/1 {\"n\":1}", try Self.pathFault(), "4: Invalid JSON: expected a", "5: The document has no path",
            ]
        )
        let options = ImportOptions(collection: try CollectionPath("b"), idField: "n")
        #expect(
            try await read("[{\"n\":1,\"x\":2},\n {\"n\":\"two\"},\n {}, {\"n\":null}]", "x.json", options) == [
                "1: b/1 {\"x\":2}", "2: b/two {}", "3: The document has no ID f", "3: The ID field \"n\" must be",
            ]
        )
        #expect(
            try await read("{\"one\": {\"a\": {\"$timestamp\": \"2014-09-09T08:00:47Z\"}}}", "x.json", options) == [
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
    func `Cells are converted to values only when they round-trip`(cell: String, json: String) async throws {
        let options = ImportOptions(collection: try CollectionPath("c"))
        #expect(try await read("a,b\r\n\(cell),1\r\n", "x.csv", options) == ["2: c/* {\"a\":\(json),\"b\":1}"])
    }

    @Test
    func `Columns name fields by path, empty cells are missing fields, and one column has the IDs`() async throws {
        let options = ImportOptions(collection: try CollectionPath("c"))
        let table = "\u{FEFF}__name__,m.x,two words\n1,2,\n\n\"q\"\"\",,3\n1,2\n"
        #expect(
            try await read(table, "x.csv", options) == [
                "2: c/1 {\"m\":{\"x\":2}}", "4: c/q\" {\"two words\":3}", "5: Expected 3 cells as in t",
            ]
        )
        #expect(try await read("a,a\n1,2", "x.csv", options) == ["1: Duplicate column \"a\": co"])
        #expect(try await read("a\n\"x", "x.csv", options) == ["2: A quoted cell is not clo"])
        #expect(try await read("a\n\"x\"y", "x.csv", options) == ["2: Expected a comma or the "])
    }

    @Test
    func `Apostrophe escapes are removed only from tables that declare them`() async throws {
        let options = ImportOptions(collection: try CollectionPath("c"))
        let table = "a\r\n'=1+1\r\n"
        #expect(try await read(table, "x.csv", options) == ["2: c/* {\"a\":\"'=1+1\"}"])
        #expect(
            try await read("\(CSVParser.apostropheEscapeComment)\r\n\(table)", "x.csv", options) == ["3: c/* {\"a\":\"=1+1\"}"]
        )
        for name in ["'__name__", "\"'__name__\""] {
            #expect(try await read("\(name),a\r\n'-x,'=1+1\r\n", "x.csv", options) == ["2: c/-x {\"a\":\"=1+1\"}"])
        }
        #expect(try await read("'__name__x,a\r\n1,'=1\r\n", "x.csv", options) == ["2: c/* {\"'__name__x\":1,\"a\":\"'=1\"}"])
    }
}
