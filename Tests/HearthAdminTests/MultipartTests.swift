import StrictJSON
import Testing

@testable import HearthAdmin

@Suite("Forms with files")
struct MultipartTests {
    /// What is read of a body that comes in parts of a size; nil when it isn't as browsers send it.
    private func read(_ body: String, partBytes: Int) -> [String]? {
        guard var reader = MultipartReader(contentType: "multipart/form-data; boundary=\"XX\"") else { return nil }
        var (found, file): ([String], [UInt8]?) = ([], nil)
        let bytes = Array(body.utf8)
        for start in stride(from: 0, to: bytes.count, by: partBytes) {
            guard let events = try? reader.read(Array(bytes[start..<min(start + partBytes, bytes.count)])) else { return nil }
            for event in events {
                switch event {
                case .field(let name, let value): found.append("\(name)=\(value)")
                case .file(let name):
                    found.append("file \(name)")
                    file = []
                case .bytes(let bytes): file? += bytes
                }
            }
        }
        guard (try? reader.finish()) != nil else { return nil }
        return found + (file.map { [String(decoding: $0, as: UTF8.self)] } ?? [])
    }

    @Test(
        "A form is read as browsers send it, however it is cut, and nothing else",
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
    func forms(body: String, found: [String]?) {
        for size in [1, 2, 7, 1_000] { #expect(read(body, partBytes: size) == found, "\(size)") }
    }

    @Test("Fields and heads are no longer than they may be")
    func limits() {
        let field = "--XX\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n"
        for size in [4_000, 4_096, 1 << 22] {
            let most = String(repeating: "x", count: MultipartReader.maximumFieldBytes - 1)
            #expect(read(field + most + "\r\n--XX--", partBytes: size) != nil)
            #expect(read(field + most + "x\r\n--XX--", partBytes: size) == nil)
        }
        #expect(read(field + String(repeating: "x", count: 2 << 20) + "\r\n--XX--", partBytes: 4_096) == nil)
        #expect(read("--XX\r\n" + String(repeating: "x", count: 1 << 20), partBytes: 4_096) == nil)
    }

    @Test(
        "Fields are no more, and together no longer, than they may be",
        arguments: [(100, 1, true), (101, 1, false), (2, 50_000, true), (3, 50_000, false)]
    )
    func fields(count: Int, byteCount: Int, isRead: Bool) {
        let field = "--XX\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\(String(repeating: "x", count: byteCount))\r\n"
        #expect((read(String(repeating: field, count: count) + "--XX--", partBytes: 4_096) != nil) == isRead)
    }

    @Test("A form has one file")
    func files() {
        let file = "--XX\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x\"\r\n\r\n1\r\n"
        #expect(read(file + "--XX--", partBytes: 100) == ["file x", "1"])
        #expect(read(file + file + "--XX--", partBytes: 100) == nil)
    }

    @Test("What follows the end is not kept")
    func epilogue() throws {
        var reader = try #require(MultipartReader(contentType: "multipart/form-data; boundary=XX"))
        _ = try reader.read(Array("--XX--\r\n".utf8))
        for _ in 0..<1_000 { #expect(try reader.read([UInt8](repeating: 0, count: 4_096)).isEmpty) }
        #expect(reader.heldCount == 0)
        try reader.finish()
    }
}
