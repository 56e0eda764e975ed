import DocumentModel
import DocumentStore
import Foundation
import HearthAPI
import StrictJSON
import Testing
import UTF8Text

@Suite("Limits, paging and damaged files") struct LimitTests {
    @Test(arguments: [1, 2, 3, 7, 1000])
    func `Paging returns every document once, in ID order`(size: Int) async throws {
        try await withService { service in
            let ids = ["__id-7__", "__id12__", "A", "a", "a b", "é", "e\u{301}", "😀"]
            for id in ids.reversed() {
                try await service.result(of: "documents.set", #"["a/\#(id)", {}]"#)
            }
            var found: [String] = []
            var token = ""
            repeat {
                let params = #"{"collection": "a", "pageSize": \#(size)\#(token)}"#
                let page = try JSONText(await service.result(of: "documents.list", params)).root
                let paths = try #require(page["documents"]?.elements?.compactMap { $0["path"]?.string })
                #expect((1...size).contains(paths.count))
                found += paths
                token = page["nextPageToken"].map { #", "pageToken": \#(String(decoding: $0.rawBytes, as: UTF8.self))"# } ?? ""
            } while !token.utf8.isEmpty
            let expected = try ids.map { try DocumentPath.ID($0) }.sorted().map { UTF8Key("a/" + $0.key.string) }
            #expect(found.map { UTF8Key($0) } == expected)
        }
    }

    @Test
    func `A page of large documents ends early`() async throws {
        try await withService(limits: ServiceLimits(maximumPageBytes: 100_000)) { service in
            let text = String(repeating: "x", count: 40_000)
            for index in 0..<5 {
                try await service.result(of: "documents.set", #"["a/\#(index)", {"text": "\#(text)"}]"#)
            }
            let page = try await ListDocuments.call(.init(collection: CollectionPath("a")), in: service.context)
            #expect(page.documents.map(\.path.id.key.string) == ["0", "1", "2"])
            #expect(page.next?.key.string == "2")
            let rest = try await ListDocuments.call(.init(collection: CollectionPath("a"), after: page.next), in: service.context)
            #expect(rest.documents.map(\.path.id.key.string) == ["3", "4"])
            #expect(rest.next == nil)
        }
    }

    @Test
    func `Missing documents are listed on request`() async throws {
        try await withService { service in
            try await service.result(of: "documents.set", #"["a/b/c/d", {}]"#)
            #expect(try await service.result(of: "documents.list", #"{"collection": "a"}"#) == #"{"documents":[]}"#)
            let all = try await service.result(of: "documents.list", #"{"collection": "a", "showMissing": true}"#)
            #expect(all == #"{"documents":[{"path":"a/b"}]}"#)
        }
    }

    @Test
    func `Collections are listed with paging`() async throws {
        try await withService { service in
            for id in ["x", "y", "z"] {
                try await service.result(of: "documents.set", #"["\#(id)/b", {}]"#)
            }
            let first = try JSONText(await service.result(of: "collections.list", #"{"pageSize": 2}"#)).root
            #expect(first["collections"]?.elements?.compactMap(\.string) == ["x", "y"])
            let token = try #require(first["nextPageToken"]?.string)
            let rest = try await service.result(of: "collections.list", #"{"pageToken": "\#(token)"}"#)
            #expect(rest == #"{"collections":["z"]}"#)
        }
    }

    @Test
    func `Files that are not collections are reported on the first page`() async throws {
        try await withService { service in
            for id in ["a", "b"] { try await service.result(of: "documents.set", #"["\#(id)/d", {}]"#) }
            #expect(try await service.result(of: "collections.list", "{}") == #"{"collections":["a","b"]}"#)
            try Data().write(to: URL(filePath: service.folder + "/documents/stray.json"))
            let page = try JSONText(await service.result(of: "collections.list", #"{"pageSize": 1}"#)).root
            #expect(page["collections"]?.elements.map(Array.init)?.map(\.string) == ["a"])
            let damaged = try #require(page["damaged"]?.elements.map(Array.init)?.first)
            #expect(damaged["message"]?.string?.contains("documents are in the folders of collections") == true)
            #expect(damaged["file"].map { String(decoding: $0.rawBytes, as: UTF8.self) } == #"{"path":"documents/stray.json"}"#)
            let token = try #require(page["nextPageToken"]?.string)
            #expect(try await service.result(of: "collections.list", #"{"pageToken": "\#(token)"}"#) == #"{"collections":["b"]}"#)
        }
    }

    @Test
    func `A damaged file is reported once, on the page of its ID`() async throws {
        try await withService { service in
            for id in ["a", "b", "c"] {
                try await service.result(of: "documents.set", #"["books/\#(id)", {}]"#)
            }
            try Data("{\n  \"x\": tru\n}".utf8).write(to: URL(fileURLWithPath: service.folder + "/documents/books/b.json"))
            for size in [1, 2, 10] {
                var damaged: [JSONNode] = []
                var ids: [String] = []
                var token = ""
                repeat {
                    let page = try JSONText(
                        await service.result(of: "documents.list", #"{"collection": "books", "pageSize": \#(size)\#(token)}"#)
                    ).root
                    damaged += page["damaged"]?.elements.map(Array.init) ?? []
                    ids += page["documents"]?.elements?.compactMap { $0["path"]?.string } ?? []
                    token =
                        page["nextPageToken"].map { #", "pageToken": \#(String(decoding: $0.rawBytes, as: UTF8.self))"# } ?? ""
                } while !token.utf8.isEmpty
                #expect(ids == ["books/a", "books/c"])
                #expect(damaged.compactMap { $0["file"]?["path"]?.string } == ["documents/books/b.json"])
                #expect(damaged.first?["file"]?["line"]?.number == .integer(2))
            }
            let error = try await service.response(to: "documents.get", #"["books/b"]"#)["error"]
            #expect(error?["code"]?.number == .integer(15))
            #expect(error?["data"]?["file"]?["path"]?.string == "documents/books/b.json")
        }
    }

    @Test
    func `A document over 1 MiB is rejected`() async throws {
        try await withService { service in
            let text = String(repeating: "x", count: 600_000)
            let response = try await service.response(to: "documents.set", #"["a/b", {"x": "\#(text)", "y": "\#(text)"}]"#)
            #expect(response["error"]?["code"]?.number == .integer(3))
            #expect(response["error"]?["data"]?["path"]?.string == "a/b")
        }
    }

    @Test(arguments: [(20, nil as Int64?), (21, 3), (60, 3)])
    func `Nesting is limited to 20 levels`(levels: Int, code: Int64?) async throws {
        try await withService { service in
            let value = String(repeating: #"{"m":"#, count: levels) + "1" + String(repeating: "}", count: levels)
            let response = try await service.response(to: "documents.set", #"["a/b", {"top": \#(value)}]"#)
            #expect(response["error"]?["code"]?.number == code.map { .integer($0) })
        }
    }

    @Test
    func `documents.batchGet limits the number of paths and of bytes`() async throws {
        let limits = ServiceLimits(maximumBodyBytes: 100_000, maximumBatchGetCount: 4)
        try await withService(limits: limits) { service in
            let path = try DocumentPath("a/b")
            let fields: MapValue = ["text": .string(String(repeating: "x", count: 40_000))]
            _ = try await SetDocument.call(.set(path, fields), in: service.context)
            let many = try await service.response(to: "documents.batchGet", #"[["a/1", "a/2", "a/3", "a/4", "a/5"]]"#)
            #expect(many["error"]?["code"]?.number == .integer(3))
            let large = try await service.response(to: "documents.batchGet", #"[["a/b", "a/b", "a/b"]]"#)
            #expect(large["error"]?["code"]?.number == .integer(8))
            let masked = try await service.result(
                of: "documents.batchGet",
                #"{"paths": ["a/b", "a/b", "a/b", "a/x"], "mask": []}"#
            )
            #expect(try JSONText(masked).root["documents"]?.count == 4)
        }
    }

    @Test
    func `server.info returns the log position and no file paths`() async throws {
        try await withService { service in
            let info = try JSONText(await service.result(of: "server.info", "{}")).root
            #expect(info["sequence"]?.number == .integer(0))
            #expect(info["commitTime"] == nil)
            try await service.result(of: "documents.set", #"["a/b", {}]"#)
            let later = try JSONText(await service.result(of: "server.info", "{}")).root
            #expect(later["sequence"]?.number == .integer(1))
            #expect(later["epoch"]?.string == info["epoch"]?.string)
            #expect(later["database"]?.string == "hearth/(default)")
            let slashes = later.rawBytes.count { $0 == UInt8(ascii: "/") }
            #expect(slashes == 1, "no file paths")
        }
    }
}
