import DocumentModel
import Foundation
import HearthClient
import TestSupport
import Testing
import UTF8Text

@Suite("hearth import and export", .timeLimit(.minutes(10)))
struct ImportExportTests {
    /// In export order: each document precedes its subcollections. One collection belongs to a missing document.
    private static let lines = [
        #"{"path":"books/a","fields":{"double":1.0,"integer":9223372036854775807,"nan":{"$double":"NaN"},"zero":-0.0}}"#,
        #"{"path":"books/a/reviews/r1","fields":{"cafe\#u{301}":"decomposed","caf\#u{e9}":"composed"}}"#,
        #"{"path":"books/a/reviews/r1/replies/x","fields":{}}"#,
        #"{"path":"books/b","fields":{"$map":{"$own":{"$map":{"$bytes":"no bytes"}}}}}"#,
        #"{"path":"books/missing/reviews/r2","fields":{"line":"\#u{2028}\u0000\n"}}"#,
        #"{"path":"users/ada","fields":{"tags":[{"$bytes":"AAECAw=="},{"$vector":[1.0,2.5]},{"$reference":"books/a"}]}}"#,
    ]

    @Test func `An export of an import is byte-identical`() async throws {
        let text = Self.lines.joined(separator: "\n") + "\n"
        try await withServer { server in
            let file = server.folder.appendingPathComponent("../import.ndjson").standardizedFileURL
            try Data(text.utf8).write(to: file)
            let imported = try await hearth("import", file.path, "--server", server.address)
            #expect(imported.status == .code(0), "\(imported)")
            #expect(imported.output == ["6 documents imported"])

            let exported = server.folder.appendingPathComponent("../export.ndjson").standardizedFileURL
            #expect(
                try await hearth("export", "-o", exported.path, "--server", server.address).output == ["6 documents exported"]
            )
            #expect(try Data(contentsOf: exported) == Data(text.utf8))
            #expect(try await hearth("export", "--server", server.address).output == Self.lines)
        }
    }

    @Test func `Documents and collections are exported with their subcollections`() async throws {
        try await withServer { server in
            _ = try await hearth("import", "-", "--server", server.address, input: Self.lines.joined(separator: "\n"))
            #expect(try await hearth("export", "books/a", "--server", server.address).output == Array(Self.lines[0...2]))
            #expect(try await hearth("export", "books/missing", "--server", server.address).output == [Self.lines[4]])
            #expect(
                try await hearth("export", "users", "books/b", "--server", server.address).output == [
                    Self.lines[5], Self.lines[3],
                ]
            )
        }
    }

    @Test func `Invalid lines are reported, and the others imported`() async throws {
        let deep = String(repeating: "{\"a\":", count: 22) + "1" + String(repeating: "}", count: 22)
        let bad = [
            "{\"path\":\"n/json\",\"fields\":{\"a\":1,}}", "[]", "{\"path\":\"n/no-fields\"}",
            "{\"path\":\"n/x\",\"fields\":{},\"more\":1}",
            "{\"path\":\"n\",\"fields\":{}}", "{\"path\":\"n/..\",\"fields\":{}}", "{\"path\":\"n/deep\",\"fields\":\(deep)}",
            "{\"path\":\"n/array\",\"fields\":{\"a\":[[1]]}}", "{\"path\":\"n/tag\",\"fields\":{\"a\":{\"$color\":1}}}",
            "{\"path\":\"n/place\",\"fields\":{\"a\":{\"$geoPoint\":{\"latitude\":91,\"longitude\":0}}}}",
            "{\"path\":\"n/twice\",\"fields\":{\"a\":1,\"a\":2}}",
            "{\"path\":\"n/number\",\"fields\":{\"a\":9223372036854775808}}",
            "{\"path\":\"n/large\",\"fields\":{\"a\":\"\(String(repeating: "x", count: 1 << 20))\"}}",
        ]
        let input = bad.enumerated().map { "\($1)\n{\"path\":\"good/g\($0)\",\"fields\":{}}\n\n" }.joined()
        try await withServer { server in
            let result = try await hearth("import", "-", "--server", server.address, input: input)
            #expect(result.status == .code(1))
            #expect(result.output == ["\(bad.count) documents imported"])
            for number in bad.indices {
                #expect(
                    result.errors.count { $0.hasPrefix("hearth: standard input:\(number * 3 + 1): ") } == 1,
                    "\(bad[number].prefix(80))"
                )
            }
            #expect(result.errors.last?.contains("\(bad.count) lines not imported") == true)
            #expect(try await hearth("list", "--server", server.address).output == ["good"])
        }
    }

    @Test func `An import reports its progress when the server is lost, but not for a missing file`() async throws {
        try await withTemporaryFolder { folder in
            let server = try await EndToEndServer(data: folder)
            let lines = (0..<900).map { "{\"path\":\"many/\($0)\",\"fields\":{}}\n" }
            let fifo = folder.appendingPathComponent("fifo").path
            #expect(mkfifo(fifo, 0o600) == 0)
            let process = try HearthProcess(["import", fifo, "--server", server.address])
            let pipe = try FileHandle(forWritingTo: URL(filePath: fifo))
            try pipe.write(contentsOf: Data(lines[..<600].joined().utf8))
            while try await server.connection.serverInformation().sequence == 0 { await Task.yield() }
            // More than the pipe holds: the write returns after the import has read on, and so received the first response.
            try pipe.write(contentsOf: Data(repeating: UInt8(ascii: "\n"), count: 1 << 18))
            #expect(try await server.stop(with: SIGKILL) == .signal(SIGKILL))
            // Fewer than a commit takes: the import does not fail before the end of the file.
            try pipe.write(contentsOf: Data(lines[600...].joined().utf8))
            try pipe.close()
            let result = try await process.result()
            #expect(result.status == .code(1))
            // After 10 s there are also lines of progress.
            #expect(result.errors.count { $0.contains("UNAVAILABLE") } == 1)
            #expect(result.errors.last?.contains("Import stopped at \(fifo):501: 500 documents imported;") == true)

            let missing = try await hearth("import", folder.appendingPathComponent("none").path, "--server", server.address)
            #expect(missing.status == .code(1))
            #expect(missing.errors.count == 1)
            #expect(missing.errorText.contains("NOT_FOUND"))
        }
    }

    @Test func `Counts are formatted in the singular`() async throws {
        try await withServer { server in
            let input = "{\"path\":\"a/b\",\"fields\":{}}\n{}"
            let result = try await hearth("import", "-", "--server", server.address, input: input)
            #expect(result.output == ["1 document imported"])
            #expect(result.errors.last == "hearth: 1 line not imported because of the errors above.")
        }
    }

    @Test func `Many documents are written in several commits and read in several pages`() async throws {
        let lines = (10_000..<11_300).map { "{\"path\":\"many/\($0)\",\"fields\":{\"n\":\($0)}}" }
        try await withServer { server in
            let result = try await hearth("import", "-", "--server", server.address, input: lines.joined(separator: "\n"))
            #expect(result.output == ["1300 documents imported"])
            #expect(try await hearth("export", "--server", server.address).output == lines)
            #expect(try await hearth("list", "many", "--server", server.address).output.count == 1_300)
        }
    }

    @Test func `An export is as of one commit, while others are made`() async throws {
        try await withServer { server in
            let many = (0..<2_000).map { "{\"path\":\"m/\($0)\",\"fields\":{}}" }.joined(separator: "\n")
            _ = try await hearth("import", "-", "--server", server.address, input: many)
            let (first, last) = (try DocumentPath("a/pair"), try DocumentPath("z/pair"))
            let writer = Task {
                for number in 0... {
                    try Task.checkCancellation()
                    let fields: MapValue = ["n": .integer(Int64(number))]
                    _ = try await server.connection.commit([.set(first, fields), .set(last, fields)])
                }
            }
            while (try? await server.connection.document(at: last)) == nil { try await Task.sleep(for: .milliseconds(5)) }
            for _ in 0..<3 {
                let lines = try await hearth("export", "--server", server.address).output
                #expect(lines.count == 2_002)
                let numbers = [lines.first, lines.last].map { $0?.firstMatch(of: /"n":(\d+)/).map { String($0.1) } }
                #expect(numbers[0] != nil && numbers[0] == numbers[1], "\(numbers)")
            }
            writer.cancel()
            _ = await writer.result
        }
    }

    @Test func `An export can be of an earlier time, and have the times of documents`() async throws {
        try await withServer { server in
            let path = try DocumentPath("books/a")
            let result = try await server.connection.set(path, ["n": .integer(1)])
            let time = try #require(result.updateTime).rfc3339
            _ = try await server.connection.set(path, ["n": .integer(2)])
            _ = try await server.connection.set(DocumentPath("books/b"), [:])
            let export = try await hearth("export", "--read-time", time, "--times", "--server", server.address)
            #expect(
                export.output == [#"{"path":"books/a","fields":{"n":1},"createTime":"\#(time)","updateTime":"\#(time)"}"#],
                "\(export)"
            )
            #expect(try await hearth("import", "-", "--server", server.address, input: export.output[0]).status == .code(0))
            let invalid = try await hearth("export", "--read-time", "yesterday", "--server", server.address)
            #expect(invalid.status == .code(64) && invalid.errorText.contains("--read-time"))
            let future = try await hearth("export", "--read-time", "2999-01-01T00:00:00Z", "--server", server.address)
            #expect(future.status == .code(1) && future.errorText.contains("future"))
        }
    }

    @Test func `A failed export does not replace the existing file`() async throws {
        try await withServer { server in
            let file = server.folder.appendingPathComponent("../export.ndjson").standardizedFileURL
            try Data("the last good one\n".utf8).write(to: file)
            let nothing = try await hearth("export", "no-such-collection", "-o", file.path, "--server", server.address)
            #expect(nothing.status == .code(1))
            #expect(nothing.errorText.contains("no-such-collection"))

            _ = try await server.connection.set(DocumentPath("books/a"), [:])
            try Data("{".utf8).write(to: server.file("books/bad"))
            let damaged = try await hearth("export", "-o", file.path, "--server", server.address)
            #expect(damaged.status == .code(1))
            #expect(damaged.errorText.contains("bad"))
            #expect(try String(contentsOf: file, encoding: .utf8) == "the last good one\n")
            #expect(try FileManager.default.contentsOfDirectory(atPath: file.deletingLastPathComponent().path).count == 2)

            #expect(try await hearth("export", "--skip-damaged", "-o", file.path, "--server", server.address).status == .code(0))
            #expect(try String(contentsOf: file, encoding: .utf8) == "{\"path\":\"books/a\",\"fields\":{}}\n")
        }
    }

    @Test func `An export reports each damaged file once and fails`() async throws {
        try await withServer { server in
            for path in ["books/a", "books/b/reviews/r"] { _ = try await server.connection.set(DocumentPath(path), [:]) }
            let documents = server.folder.appending(path: "documents")
            let unexpected = ["top.json", "books/%zz/x", "books/a", "books/b/reviews/c.json/x", "books/b/stray.json", "README"]
            for name in unexpected {
                let file = documents.appending(path: name)
                try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data("x".utf8).write(to: file)
            }
            try FileManager.default.createSymbolicLink(
                at: documents.appending(path: "shop"),
                withDestinationURL: documents.appending(path: "books")
            )
            let result = try await hearth("export", "--server", server.address)
            #expect(result.status == .code(1))
            #expect(result.output == [#"{"path":"books/a","fields":{}}"#, #"{"path":"books/b/reviews/r","fields":{}}"#])
            let files = ["top.json", "books/%zz", "books/a", "books/b/reviews/c.json", "books/b/stray.json", "shop"]
            for file in files {
                #expect(result.errors.filter { $0.contains("file \"documents/\(file)\")") }.count == 1, "\(file)")
            }
            #expect(result.errors.last == "hearth: 6 damaged files could not be exported.")
            #expect(result.errors.count { !$0.hasSuffix(" exported") } == files.count + 1)
            #expect(!result.errorText.contains(server.folder.path))
            #expect(try await hearth("export", "--skip-damaged", "--server", server.address).status == .code(0))
            let list = try await hearth("list", "--server", server.address)
            #expect(list.status == .code(1) && list.output == ["books"] && list.errors.count == 2)
        }
    }

    @Test func `An export replaces only regular files`() async throws {
        try await withServer { server in
            _ = try await server.connection.set(DocumentPath("books/a"), [:])
            for target in ["/dev/null", server.folder.path, server.folder.path + "/none/x"] {
                let result = try await hearth("export", "-o", target, "--server", server.address)
                #expect(result.status == .code(1))
                #expect(result.errorText.contains(target))
            }
        }
    }
}
