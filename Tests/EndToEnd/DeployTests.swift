import Foundation
import HearthClient
import StrictJSON
import TestSupport
import Testing
import UTF8Text

@Suite("deploy/run and deploy/test", .tags(.slow), .timeLimit(.minutes(10)))
struct DeployTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "deploy")
    private static let script = folder.appending(path: "run")

    /// A run of the script, with its output up to the last line.
    private struct Start {
        let process: HearthProcess
        let lines: [String]

        init(data: String, port: String = "0") async throws {
            process = try HearthProcess(
                [],
                program: script,
                environment: ["HEARTH_BIN": HearthProcess.executable.path, "HEARTH_DATA": data, "HEARTH_PORT": port]
            )
            var lines: [String] = []
            for await line in process.output {
                lines.append(line)
                if line.hasPrefix("  Command line: ") { break }
            }
            self.lines = lines
        }

        var loadsExamples: Bool { lines.contains { $0.hasPrefix("== Loading the examples") } }
        var address: String? { lines.first { $0.wholeMatch(of: /http:\/\/127\.0\.0\.1:[1-9][0-9]*/) != nil } }

        /// Returns the text after a label.
        func value(_ label: String) throws -> String {
            let line = try #require(lines.first { $0.contains("\(label): ") }, "\(lines)")
            return String(line[try #require(line.firstRange(of: "\(label): ")).upperBound...].drop { $0 == " " })
        }
    }

    /// The kinds of new data folders.
    enum NewFolder: CaseIterable {
        case missing, belowMissing, empty, linkToMissing, linkToEmpty

        func path(in folder: TemporaryFolder) throws -> String {
            let target = folder["target"]
            switch self {
            case .missing: return target
            case .belowMissing: return folder["a b/c/target"]
            case .empty, .linkToEmpty: try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: false)
            case .linkToMissing: break
            }
            guard self != .empty else { return target }
            try folder.link("link", to: target)
            return folder["link"]
        }
    }

    @Test(arguments: NewFolder.allCases) func `Loads the examples into a new data folder, once`(kind: NewFolder) async throws {
        let folder = try TemporaryFolder()
        let data = try kind.path(in: folder)
        let first = try await Start(data: data)
        #expect(first.loadsExamples)
        let address = try #require(first.address)
        let export = try await hearth("export", "--server", address)
        #expect(export.output.count > 900)
        #expect(try await first.process.end(with: SIGTERM) == .code(0))

        let second = try await Start(data: data)
        #expect(!second.loadsExamples)
        #expect(try await hearth("export", "--server", #require(second.address)).output == export.output)
        #expect(try await second.process.end(with: SIGINT) == .code(0))
    }

    @Test func `Prints examples that work`() async throws {
        let folder = try TemporaryFolder()
        let start = try await Start(data: folder["data"])
        let address = try #require(start.lines.firstIndex { $0 == start.address })
        #expect(try #require(start.lines.firstIndex { $0.contains("Admin pages: ") }) > address)

        let page = try await shell("curl --silent --fail \(start.value("Admin pages"))")
        #expect(page.status == .code(0))
        #expect(page.output.contains { $0.contains("books") })

        let call = try await shell(start.value("JSON-RPC"))
        let response = try JSONText(call.output.joined(separator: "\n")).root
        #expect(response["result"]?["path"]?.string == "books/hitchhiker")

        let watch = try await shell("timeout 3 \(start.value("Watch stream"))")
        #expect(watch.status == .code(124))
        let types = try watch.output.map { try JSONText($0).root["type"]?.string }
        #expect(types == ["open"] + Array(repeating: "added", count: 5) + ["current"])

        let list = try await shell(start.value("Command line"))
        #expect(list.output.contains("books/hitchhiker"))
        #expect(try await start.process.end(with: SIGTERM) == .code(0))
    }

    @Test func `Reloads the examples after an interruption`() async throws {
        let folder = try TemporaryFolder()
        let first = try await Start(data: folder["data"])
        #expect(try await hearth("delete", "books/hitchhiker", "--server", #require(first.address)).status == .code(0))
        #expect(try await first.process.end(with: SIGTERM) == .code(0))
        try folder.write("", to: "data/.examples-unfinished")

        let second = try await Start(data: folder["data"])
        #expect(second.loadsExamples)
        #expect(try await hearth("get", "books/hitchhiker", "--server", #require(second.address)).status == .code(0))
        #expect(try await second.process.end(with: SIGTERM) == .code(0))
        #expect(!folder.exists("data/.examples-unfinished"))
    }

    @Test func `Reports why the server does not start`() async throws {
        try await withServer { server in
            let folder = try TemporaryFolder()
            let port = String(server.address.split(separator: ":").last ?? "")
            let start = try await Start(data: folder["data"], port: port)
            let errors = await start.process.errors.reduce(into: []) { $0.append($1) }.joined(separator: "\n")
            #expect(start.lines == [])
            #expect(errors.contains("Address already in use"))
            #expect(errors.contains("HEARTH_PORT"))
            #expect(try await start.process.exitStatus() == .code(1))
        }
    }

    @Test(arguments: ["run", "test"]) func `Rejects arguments`(script: String) async throws {
        let process = try HearthProcess(["--port", "9000"], program: Self.folder.appending(path: script))
        let errors = await process.errors.reduce(into: []) { $0.append($1) }
        #expect(try await process.exitStatus() == .code(64))
        #expect(errors.first?.hasPrefix("deploy/\(script) takes no arguments") == true)
    }
}
