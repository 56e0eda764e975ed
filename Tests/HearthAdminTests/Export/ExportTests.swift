import CLibXML2
import CZlib
import DocumentModel
import DocumentStore
import FileStore
import Foundation
import HTTPTypes
import HearthAPI
import HearthHTTP
import HummingbirdCore
import NIOCore
import StrictJSON
import Testing
import UTF8Text

@testable import HearthAdmin

@Suite("Export")
struct ExportTests {
    /// Returns the complete body of a response.
    private static func bytes(_ response: PageResponse) async throws -> [UInt8] {
        var bytes = response.body
        try await response.stream?.write { bytes += $0 }
        return bytes
    }

    private static func text(_ response: PageResponse) async throws -> String {
        String(decoding: try await bytes(response), as: UTF8.self)
    }

    /// - Parameter requiresEnd: Whether to return an empty array for truncated data.
    private static func unzip(_ bytes: [UInt8], requiresEnd: Bool = true) -> [UInt8] {
        var stream = z_stream()
        inflateInit2_(&stream, 15 + 32, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        defer { inflateEnd(&stream) }
        var bytes = bytes
        return [UInt8](unsafeUninitializedCapacity: 8 << 20) { output, count in
            bytes.withUnsafeMutableBufferPointer { input in
                stream.next_in = input.baseAddress
                stream.avail_in = UInt32(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(output.count)
                let status = inflate(&stream, Z_FINISH)
                count = status == Z_STREAM_END || !requiresEnd ? output.count - Int(stream.avail_out) : 0
            }
        }
    }

    private static func numbers(_ count: Int) throws -> [Write] {
        try (0..<count).map { number in
            .create(
                try DocumentPath("many/d\(10_000 + number)"),
                ["n": .integer(Int64(number % 7)), "text": .string("x, \"\(number)\"")]
            )
        }
    }

    /// Damages a document during an export; returns the sent bytes and whether the response was aborted.
    private static func exportWithLateDamage(_ query: String) async throws -> (sent: [UInt8], isAborted: Bool) {
        try await TestSite.with(numbers(700)) { site in
            let response = await site.get("/admin/data/many?export=\(query)")
            #expect(response.status == .ok)
            try Data("{\n!".utf8).write(to: site.folder.appending(path: "documents/many/d10650.json"))
            var sent: [UInt8] = []
            do {
                try await response.stream?.write { sent += $0 }
                return (sent, false)
            } catch {
                return (sent, true)
            }
        }
    }

    private static let reason =
        "INCOMPLETE: the export was aborted because of a read error. documents/many/d10650.json:2:1: "

    @Test(arguments: ["ndjson", "json", "csv", "kml"])
    func `An aborted file ends with the reason`(format: String) async throws {
        let (sent, isAborted) = try await Self.exportWithLateDamage(format)
        #expect(isAborted)
        let text = String(decoding: sent, as: UTF8.self)
        let lines = sent.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }.map {
            String(decoding: $0, as: UTF8.self)
        }
        let last = try #require(lines.last)
        #expect(last.contains(Self.reason))
        switch format {
        case "ndjson":
            #expect(last.hasPrefix("# INCOMPLETE"))
            #expect(lines.dropLast().allSatisfy { (try? JSONText(Array($0.utf8))) != nil })
        case "json": #expect((try? JSONText(sent)) == nil)
        case "csv": #expect(last.hasPrefix("\"# INCOMPLETE") && last.hasSuffix(",,,"))
        default: #expect(last.hasPrefix("<!--") && last.hasSuffix("-->") && !text.contains("</kml>"))
        }
    }

    @Test
    func `The file shows only the error ID of an internal error`() async throws {
        try await TestSite.with(Self.numbers(700)) { site in
            let request = try CollectionRequest(path: CollectionPath("many"), query: URLQuery(nil))
            let export = try #require(CollectionExport(URLQuery("export=ndjson"), of: request))
            let body = try await export.body(at: site.store.position.lastCommitTime, in: site.pages.context) { error in
                #expect(site.pages.environment.errors.recordAndRedact(error).message == error.message)
                return site.pages.environment.errors.recordAndRedact(StatusError(.internal, "secret", path: "many/secret"))
            }
            try Data("{\n!".utf8).write(to: site.folder.appending(path: "documents/many/d10650.json"))
            var sent: [UInt8] = []
            await #expect(throws: StatusError.self) { try await body.write { sent += $0 } }
            let last = try #require(sent.split(separator: UInt8(ascii: "\n")).last.map { String(decoding: $0, as: UTF8.self) })
            #expect(last.contains(/error\. Internal server error\. The server log has the cause under error\.id [0-9a-f]{16}\.$/))
        }
    }

    @Test(arguments: ["ndjson", "csv"])
    func `An aborted gzip file can be decompressed and is recognizably truncated`(format: String) async throws {
        let (sent, isAborted) = try await Self.exportWithLateDamage("\(format)&gzip=1")
        #expect(isAborted)
        #expect(Self.unzip(sent).isEmpty, "the file looks complete")
        #expect(String(decoding: Self.unzip(sent, requiresEnd: false), as: UTF8.self).contains(Self.reason))
    }

    @Test
    func `A CSV export that must determine its columns fails before it begins if any document is unreadable`() async throws {
        try await TestSite.with(Self.numbers(700)) { site in
            try Data("{".utf8).write(to: site.folder.appending(path: "documents/many/d10650.json"))
            let request = try CollectionRequest(path: CollectionPath("many"), query: URLQuery(nil))
            let export = try #require(CollectionExport(URLQuery("export=csv"), of: request))
            await #expect(throws: CollectionExport.UnreadableDocuments.self) {
                try await export.body(at: site.store.position.lastCommitTime, in: site.pages.context) { $0 }
            }
        }
    }

    @Test(
        arguments: [
            ("export=ndjson", 700), ("export=ndjson&order=-n", 700), ("export=ndjson&where=n%20%3D%3D%203", 100),
            ("export=ndjson&after=d10100&size=25", 700),
        ]
    )
    func `Every document is exported once in the requested order, over several pages`(query: String, count: Int) async throws {
        try await TestSite.with(Self.numbers(700)) { site in
            let response = await site.get("/admin/data/many?" + query)
            #expect(response.headers[.contentType] == "application/x-ndjson")
            #expect(response.headers[.contentDisposition] == "attachment; filename=\"many.ndjson\"; filename*=UTF-8''many.ndjson")
            let lines = try await Self.text(response).utf8.split(separator: UInt8(ascii: "\n"))
            let paths = try lines.map { try JSONText(Array($0)).root["path"]?.string }
            #expect(paths.count == count)
            #expect(Set(paths).count == count)
            if query.contains("-n") {
                let numbers = try lines.map { line in
                    guard case .integer(let number)? = try JSONText(Array(line)).root["fields"]?["n"]?.number else { return -1 }
                    return Int(number)
                }
                #expect(numbers == numbers.sorted(by: >))
            }
        }
    }

    @Test
    func `JSON is an array of documents in the API's form`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let root = try JSONText(await Self.bytes(site.get("/admin/data/books?export=json"))).root
            let documents = try #require(root.elements)
            #expect(documents.map { $0["path"]?.string }.count == 5)
            let none = try JSONText(await Self.bytes(site.get("/admin/data/nothing?export=json"))).root
            #expect(none.count == 0)
        }
    }

    @Test
    func `CSV has a column for every field, and escapes formulas`() async throws {
        let writes: [Write] = [
            .create(try DocumentPath("t/a"), ["text": .string("=1+1"), "n": .integer(-5), "empty": .string("")]),
            .create(try DocumentPath("t/b"), ["text": .string("a, \"b\"\r\n"), "d": .double(.nan), "n": .null]),
            .create(try DocumentPath("t/-c"), ["text": .string(" \"@x"), "list": .array([.integer(1), .string("x")])]),
            .create(try DocumentPath("t/d"), ["text": .string("\u{FF1D}x"), "map": .map(["k": .boolean(true)])]),
        ]
        try await TestSite.with(writes) { site in
            let table = try await Self.text(site.get("/admin/data/t?export=csv"))
            #expect(
                Array(table.utf8)
                    == Array(
                        """
                        '__name__,d,empty,list,map,n,text\r
                        '-c,,,"[1,""x""]",,,"' ""@x"\r
                        a,,"",,,-5,"'=1+1"\r
                        b,NaN,,,,null,"a, ""b""\r\n"\r
                        d,,,,"{""k"":true}",,"'\u{FF1D}x"\r

                        """.utf8
                    )
            )
            // Without such text, the header is that of other programs.
            let plain = try await Self.text(site.get("/admin/data/t?export=csv&cols=n&where=n%20%3D%3D%20-5"))
            #expect(Array(plain.utf8) == Array("__name__,n\r\na,-5\r\n".utf8))
            let raw = try await Self.text(site.get("/admin/data/t?export=csv&raw=1&cols=text&where=n%20%3D%3D%20-5"))
            #expect(Array(raw.utf8) == Array("__name__,text\r\na,\"=1+1\"\r\n".utf8))
        }
    }

    @Test
    func `KML is well-formed and has a placemark for each geo point`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let response = await site.get("/admin/data/locations?export=kml")
            #expect(response.headers[.contentType] == "application/vnd.google-earth.kml+xml")
            let text = try await Self.text(response)
            #expect(Self.isWellFormed(text))
            #expect(text.contains("<coordinates>9.9856482,53.553986</coordinates>"))
            #expect(text.components(separatedBy: "<Placemark>").count == 6)
        }
    }

    @Test(arguments: HostileValueTests.texts)
    func `Hostile text is escaped in XML`(text: String) async throws {
        let place: Value = .geoPoint(try GeoPoint(validatingLatitude: 1, longitude: 2))
        let key = UTF8Key(text.truncated(toScalars: 200).text)
        try await TestSite.with([.create(try DocumentPath("odd/x"), [key: .string(text), "place": place])]) { site in
            for format in ["kml", "atom"] {
                let xml = try await Self.text(site.get("/admin/data/odd?export=\(format)"))
                #expect(Self.isWellFormed(xml), "\(format)")
            }
        }
    }

    @Test
    func `The feed has the latest changes, newest first`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let path = try DocumentPath("books/hitchhiker")
            _ = try await site.store.commit([.delete(path)])
            let response = await site.get("/admin/data/books?export=atom")
            #expect(response.headers[.contentDisposition] == nil)
            let text = try await Self.text(response)
            #expect(Self.isWellFormed(text))
            let titles = text.matches(of: /<title>([^<]*)<\/title>/).map { String($0.1) }
            #expect(titles.prefix(2) == ["books", "books/hitchhiker: deleted"])
            #expect(titles.count == 7)
            #expect(text.contains("href=\"http://127.0.0.1:8080/admin/data/books/hitchhiker\""))
            let ids = text.matches(of: /<id>([^<]*)<\/id>/).map { String($0.1) }
            #expect(Set(ids).count == ids.count)
        }
    }

    @Test(arguments: ["ndjson", "json", "csv", "kml", "atom"])
    func `A collection that the key does not give access to is not exported`(format: String) async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let path = try CollectionPath("locations")
            let made = try await site.keys.create(.init(role: .reader, collections: [path]))
            let caller = try site.keys.authenticate(Array(made.text.utf8))
            #expect(await site.get("/admin/data/locations?export=\(format)", as: caller).status == .ok)
            for gzip in ["", "&gzip=1"] {
                let response = await site.get("/admin/data/books?export=\(format)\(gzip)", as: caller)
                #expect(response.status == .forbidden)
                #expect(response.headers[.contentType] == "text/html; charset=utf-8")
            }
        }
    }

    @Test(arguments: ["ndjson", "json", "csv", "kml", "atom"])
    func `A gzip file has the same content and the suffix .gz`(format: String) async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let plain = try await Self.bytes(site.get("/admin/data/locations?export=\(format)"))
            let response = await site.get("/admin/data/locations?export=\(format)&gzip=1")
            #expect(response.headers[.contentType] == "application/gzip")
            #expect(response.headers[.contentDisposition]?.contains("locations.\(format).gz") == true)
            #expect(try await Self.unzip(Self.bytes(response)) == plain)
        }
    }

    @Test(
        arguments: [
            ("a\"b;c", "a_b_c"), ("..x", "__x"), ("bücher", "b__cher"), ("a\r\nb", "a__b"),
        ]
    )
    func `The file name is safe for any collection ID`(id: String, name: String) async throws {
        let path = CollectionPath(parent: nil, id: try CollectionID(id))
        try await TestSite.with { site in
            let header = await site.get(AdminURL.collection(path) + "?export=json").headers[.contentDisposition] ?? ""
            let encoded = PercentEncoding.encode(path.id.key)
            #expect(header == "attachment; filename=\"\(name).json\"; filename*=UTF-8''\(encoded).json")
        }
    }

    @Test(arguments: ["export=xlsx", "export=csv&where=a%20%3C%20null"])
    func `An invalid export request returns an error page`(query: String) async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let response = await site.get("/admin/data/books?" + query)
            #expect(response.status == .badRequest)
            #expect(response.headers[.contentType] == "text/html; charset=utf-8")
        }
    }

    @Test
    func `Responses are compressed for clients that accept gzip`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let client = RouteClient(site.pages)
            for address in [
                "/admin/data/books", "/admin/assets/admin.css", "/admin/data/books?export=json", "/admin/assets/live.js",
            ] {
                let plain = try await client.execute(address, method: .get)
                #expect(plain.headers[.contentEncoding] == nil)
                #expect(plain.headers[values: .vary].contains("Accept-Encoding"))
                for accepted in ["gzip, deflate, br", "br;q=1.0, gzip;q=0.8"] {
                    let coded = try await client.execute(address, method: .get, headers: [.acceptEncoding: accepted])
                    #expect(coded.headers[.contentEncoding] == "gzip")
                    let bytes = Self.unzip(Array(coded.body.readableBytesView))
                    #expect(bytes.count == plain.body.readableBytes)
                }
                for unsupported in ["br", "gzip;q=0", "identity"] {
                    let other = try await client.execute(address, method: .get, headers: [.acceptEncoding: unsupported])
                    #expect(other.headers[.contentEncoding] == nil)
                }
            }
        }
    }

    /// Returns whether libxml2 parses a text as XML without errors.
    private static func isWellFormed(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        let options = Int32(XML_PARSE_NONET.rawValue | XML_PARSE_NOERROR.rawValue | XML_PARSE_NOWARNING.rawValue)
        let document = bytes.withUnsafeBytes { xmlReadMemory($0.baseAddress, Int32($0.count), nil, nil, options) }
        guard let document else { return false }
        xmlFreeDoc(document)
        return true
    }
}
