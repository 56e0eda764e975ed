import Testing

@testable import HearthAdmin

@Suite("Multipart parser")
struct MultipartParserTests {
    /// Parses a body in chunks of a size; returns `nil` if it is malformed.
    private func parse(_ body: String, chunkBytes: Int) -> [String]? {
        guard var parser = MultipartParser(contentType: "multipart/form-data; boundary=\"XX\"") else { return nil }
        var (found, file): ([String], [UInt8]?) = ([], nil)
        let bytes = Array(body.utf8)
        for start in stride(from: 0, to: bytes.count, by: chunkBytes) {
            guard let events = try? parser.parse(Array(bytes[start..<min(start + chunkBytes, bytes.count)])) else { return nil }
            for event in events {
                switch event {
                case .field(let name, let value): found.append("\(name)=\(value)")
                case .fileStart(let name):
                    found.append("file \(name)")
                    file = []
                case .fileBytes(let bytes): file? += bytes
                }
            }
        }
        guard (try? parser.finish()) != nil else { return nil }
        return found + (file.map { [String(decoding: $0, as: UTF8.self)] } ?? [])
    }

    @Test(
        arguments: [
            ("--XX\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n2\r\n--XX--\r\n", ["a=1\n2"]),
            ("--XX\r\nCONTENT-DISPOSITION: form-data; name=\"a;b\"\r\n\r\n\r\n--XX--", ["a;b="]), ("--XX--", []), ("", nil),
            ("--XX\r\n\r\n--XX--", nil), ("--XX\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1", nil), ("--YY\r\n", nil),
            ("--XX\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n--XX\r\n--XX--", nil),
            (
                "--XX\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a;b%22c\\\"d.csv\"\r\nContent-Type: text/csv\r\n\r\n1\r\n--X\r\n\r\n--XX--",
                ["file a;b\"c\"d.csv", "1\r\n--X\r\n"]
            ),
            ("--XX\r\nContent-Disposition: form-data; filename=C:\\x; name=f\r\n\r\n\r\n--XX--", ["file C:\\x", ""]),
        ] as [(String, [String]?)]
    )
    func `A form is parsed independently of the chunk size, and malformed forms are rejected`(body: String, found: [String]?) {
        for size in [1, 2, 7, 1_000] { #expect(parse(body, chunkBytes: size) == found, "\(size)") }
    }

    @Test
    func `Fields and headers are limited in size`() {
        let field = "--XX\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n"
        for size in [4_000, 4_096, 1 << 22] {
            let most = String(repeating: "x", count: MultipartParser.maximumFieldBytes - 1)
            #expect(parse(field + most + "\r\n--XX--", chunkBytes: size) != nil)
            #expect(parse(field + most + "x\r\n--XX--", chunkBytes: size) == nil)
        }
        #expect(parse(field + String(repeating: "x", count: 2 << 20) + "\r\n--XX--", chunkBytes: 4_096) == nil)
        #expect(parse("--XX\r\n" + String(repeating: "x", count: 1 << 20), chunkBytes: 4_096) == nil)
    }

    @Test(
        arguments: [(100, 1, true), (101, 1, false), (2, 50_000, true), (3, 50_000, false)]
    )
    func `Fields are limited in number and total size`(count: Int, byteCount: Int, isValid: Bool) {
        let field = "--XX\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\(String(repeating: "x", count: byteCount))\r\n"
        #expect((parse(String(repeating: field, count: count) + "--XX--", chunkBytes: 4_096) != nil) == isValid)
    }

    @Test
    func `A form with two files is rejected`() {
        let file = "--XX\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x\"\r\n\r\n1\r\n"
        #expect(parse(file + "--XX--", chunkBytes: 100) == ["file x", "1"])
        #expect(parse(file + file + "--XX--", chunkBytes: 100) == nil)
    }

    @Test
    func `The epilogue is discarded`() throws {
        var parser = try #require(MultipartParser(contentType: "multipart/form-data; boundary=XX"))
        _ = try parser.parse(Array("--XX--\r\n".utf8))
        for _ in 0..<1_000 { #expect(try parser.parse([UInt8](repeating: 0, count: 4_096)).isEmpty) }
        #expect(parser.bufferedByteCount == 0)
        try parser.finish()
    }
}
