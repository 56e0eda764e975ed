import DocumentModel
import Foundation
import HearthClient
import TestSupport
import Testing

extension OfflineTests {
    /// The sample program, which is built with the tests.
    @Suite("The sample program for shared lists", .tags(.crash), .timeLimit(.minutes(5)))
    struct SharedListTests {
        /// A person with the program and a cache.
        private struct Person {
            let port: Int
            let cache: URL

            func start(_ arguments: String...) throws -> HearthProcess {
                try start(arguments)
            }

            func run(_ arguments: String...) async throws -> [String] {
                let result = try await start(arguments).result()
                try #require(result.status == .code(0), "\(result)")
                return result.output
            }

            /// - Parameter plan: What happens to the calls that change files of the cache.
            func start(_ arguments: [String], _ plan: FaultPlan? = nil) throws -> HearthProcess {
                let environment = ["HEARTH_SERVER": "http://127.0.0.1:\(port)", "LIST_CACHE": cache.path]
                return try HearthProcess(
                    arguments,
                    program: HearthProcess.products.appending(path: "SharedListExample"),
                    environment: environment.merging(plan?.environment(for: cache) ?? [:]) { $1 }
                )
            }
        }

        /// Calls `body` with a server, a proxy to it, and two persons behind the proxy.
        private func withPersons(_ body: (EndToEndServer, CuttingProxy, Person, Person) async throws -> Void) async throws {
            try await withTemporaryFolder { folder in
                try await withServer { server in
                    let proxy = try CuttingProxy(to: try #require(URL(string: server.address)?.port))
                    defer { proxy.stop() }
                    let persons = ["ann", "bob"].map { Person(port: proxy.port, cache: folder.appending(path: $0)) }
                    try await body(server, proxy, persons[0], persons[1])
                }
            }
        }

        @Test func `What is added without the server, also by a program that is killed, arrives once, and all see it`()
            async throws
        {
            try await withPersons { server, proxy, ann, bob in
                #expect(try await ann.run("add", "bread") == ["Added: bread"])
                let screen = try bob.start("watch")
                var lines = screen.output.makeAsyncIterator()
                while let line = await lines.next(), line != "☐ bread" {}

                proxy.setRefusing(true)
                #expect(try await ann.run("--offline", "add", "milk") == ["Added: milk"])
                let killed = try ann.start("add", "oat", "flakes")
                for await line in killed.output where line == "Added: oat flakes" { break }
                #expect(try await killed.end(with: SIGKILL) == .signal(SIGKILL))
                #expect(try await ann.run("--offline", "done", "bread") == ["Done: 1"])
                let local = try await ann.run("--offline")
                #expect(local.prefix(3) == ["☑ bread …", "☐ milk …", "☐ oat flakes …"])
                #expect(try await ann.run("--offline", "status").first?.hasPrefix("3 changes wait") == true)

                proxy.setRefusing(false)
                #expect(try await ann.run("status") == ["The server has all changes."])
                let shared = ["☑ bread", "☐ milk", "☐ oat flakes"]
                #expect(try await ann.run() == shared)
                // At once, or after some of the changes.
                var shown: [String] = []
                while shown.suffix(3) != shared, let line = await lines.next() { shown.append(line) }
                #expect(shown.suffix(3) == shared)
                #expect(try await screen.end(with: SIGKILL) == .signal(SIGKILL))
                #expect(try await bob.run() == shared)
                let items = try await server.firestore.collection("lists/shopping/items").getDocuments()
                #expect(items.documents.compactMap { $0.get("text") as? String }.sorted() == ["bread", "milk", "oat flakes"])
            }
        }

        /// Kills the program at every call with `HEARTH_CRASH_ALL=1`, otherwise at a sample.
        @Test(.tags(.slow)) func `A program that is killed at any call that changes a file loses nothing that it has told`()
            async throws
        {
            try await withTemporaryFolder { folder in
                try await withServer { server in
                    let port = try #require(URL(string: server.address)?.port)
                    func person(_ name: String) -> Person { Person(port: port, cache: folder.appending(path: name)) }
                    let log = folder.appending(path: "calls")
                    let counted = try await person("counted").start(["add", "counted"], FaultPlan(log: log)).result()
                    try #require(counted.status == .code(0), "\(counted)")
                    let trace = try CallTrace(log: log)
                    #expect(trace.calls.contains { $0.path.hasSuffix("queue.sqlite-wal") && $0.writes })
                    for call in trace.sample(count: 12) {
                        let (item, ann) = ("item \(call.number)", person("\(call.number)"))
                        let plan = FaultPlan(fault: .kill(call.writes ? .within : .before, call: call.number))
                        let killed = try await ann.start(["add", item], plan).result()
                        #expect(killed.status == .signal(SIGKILL), "\(call)")
                        // The next run sends what is in the queue.
                        #expect(try await ann.run("status") == ["The server has all changes."], "\(call)")
                        let items = try await server.firestore.collection("lists/shopping/items").getDocuments().documents
                        let count = items.count { $0.get("text") as? String == item }
                        #expect(killed.output.contains("Added: \(item)") ? count == 1 : count <= 1, "\(call)")
                    }
                }
            }
        }

        @Test func `What the server refuses is shown until it was seen`() async throws {
            try await withPersons { _, _, ann, bob in
                _ = try await ann.run("add", "cake")
                #expect(try await ann.run("--offline", "done", "cake") == ["Done: 1"])
                #expect(try await bob.run("remove", "cake") == ["Removed: 1"])
                for _ in 0..<2 {
                    let status = try await ann.run("status")
                    #expect(status.contains { $0.hasPrefix("Refused: cake.") }, "\(status)")
                    #expect(status.contains("The server has all changes."))
                }
                let screen = try ann.start("watch")
                for await line in screen.output where line.hasPrefix("Refused: cake.") { break }
                // The acknowledgement follows the line.
                try await eventually { try await ann.run("--offline", "status") == ["The server has all changes."] }
                #expect(try await screen.end(with: SIGKILL) == .signal(SIGKILL))
                try await eventually { try await ann.run("status") == ["The server has all changes."] }
                #expect(try await ann.run() == ["Nothing to buy."])
            }
        }
    }
}
