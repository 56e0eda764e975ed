import DocumentModel
import DocumentStore
import Foundation
import HearthClient
import HearthWire
import StrictJSON
import TestSupport
import Testing
import UTF8Text

@Suite("hearth serve --follow, hearth promote", .tags(.slow), .timeLimit(.minutes(10)))
struct StandbyTests {
    @Test func `A standby serves what its primary commits, refuses writes, and says how old its state may be`() async throws {
        try await withServers { folder, servers in
            let primary = try await servers.start(data: folder.appending(path: "a"))
            try await primary.write("books/before", 1)
            let standby = try await servers.start(data: folder.appending(path: "b"), arguments: ["--follow", primary.address])
            #expect(try await standby.value(of: "books/before") == 1)
            let token = try await primary.token()
            try await primary.write("books/after", 2)
            try await standby.waitForCommits(of: primary)
            #expect(try await standby.value(of: "books/after") == 2)
            let (own, others) = (try await primary.information(), try await standby.information())
            #expect(own.epoch == others.epoch && own.sequence == others.sequence && own.commitTime == others.commitTime)
            #expect(others.primary == primary.address && own.primary == nil)

            // Tokens of one are good for the other.
            let frames = try await standby.frames(resuming: token, through: "books/after")
            #expect(!frames.contains(.reset), "\(frames)")
            // Also one that the standby may not have reached.
            try await primary.write("books/ahead", 3)
            let ahead = try await primary.token()
            async let later = standby.frames(resuming: ahead, through: "books/final")
            try await primary.write("books/final", 4)
            let laterFrames = try await later
            #expect(!laterFrames.contains(.reset), "\(laterFrames)")

            for write in ["set books/x {}", "delete books/before", "indexes exempt books n", "set c/d {} --database new"] {
                let arguments = write.split(separator: " ").map(String.init)
                let result = try await standby.run(arguments)
                #expect(
                    result.errorText.contains("FAILED_PRECONDITION") && result.errorText.contains(primary.address),
                    "\(result)"
                )
            }
            #expect(try await standby.run(["databases"]).output == ["hearth/(default)"])

            let fresh = try await shell("curl -s -D - \(standby.address)/health/ready -H 'Hearth-Max-Age: 60'").output
            #expect(
                fresh.first?.contains("200") == true && fresh.contains { $0.lowercased().hasPrefix("hearth-age: ") },
                "\(fresh)"
            )
            #expect(fresh.contains { $0.contains(#""role":"standby""#) }, "\(fresh)")
            let stale = try await shell(
                "curl -s \(standby.address)/rpc -H 'Hearth-Max-Age: 0' -H 'Content-Type: application/json' -d '{}'"
            )
            #expect(stale.output.joined().contains("UNAVAILABLE"), "\(stale)")
            let metrics = try await standby.metrics()
            #expect(metrics["hearth_standby"] == 1 && metrics["hearth_standby_connected"] == 1)
            #expect(metrics["hearth_standby_lag_commits"] == 0 && metrics["hearth_standby_failed"] == 0)
            #expect(metrics["hearth_standby_lag_seconds", default: .infinity] < 60)
            #expect(try await primary.metrics()["hearth_connected_standbys"] == 1)
            #expect(try await standby.run(["status"]).output.contains { $0.hasPrefix("standby of") })
            let page = try await shell("curl -s \(standby.address)/admin/").output.joined(separator: "\n")
            #expect(page.contains("This server is a standby, which serves reads only."))

            #expect(try await standby.stop() == .code(0))
            // The folder is not written by accident.
            let refused = try await hearth("serve", "--data", standby.folder.path, "--port", "0")
            #expect(refused.status == .code(1) && refused.errorText.contains("hearth promote"), "\(refused)")
            #expect(try await primary.stop() == .code(0))
            #expect(try await hearth("check", "--data", standby.folder.path).status == .code(0))
        }
    }

    @Test func `Databases, index definitions, rules and keys follow`() async throws {
        try await withServers { folder, servers in
            let data = folder.appending(path: "a")
            let key = try await hearth("keys", "create", "--role", "admin", "--label", "first", "--data", data.path).output[0]
            let file = folder.appending(path: "key")
            try Data(key.utf8).write(to: file)
            let primary = try await servers.start(data: data)
            func onPrimary(_ arguments: String...) async throws {
                let result = try await primary.run(arguments + ["--key-file", file.path])
                #expect(result.status == .code(0), "\(arguments): \(result)")
            }
            try await onPrimary("set", "c/d", "{}", "--database", "early")
            let standby = try await EndToEndServer(
                data: folder.appending(path: "b"),
                arguments: ["--follow", primary.address, "--follow-key", file.path]
            )
            func onStandby(_ arguments: String...) async throws -> CommandResult {
                try await standby.run(arguments + ["--key-file", file.path])
            }
            try await onPrimary("set", "c/d", #"{"n": 1}"#, "--database", "late")
            try await onPrimary("indexes", "exempt", "c", "n")
            try await onPrimary("indexes", "exempt", "c", "m", "--database", "late")
            try await eventually { try await onStandby("get", "c/d", "--database", "early").status == .code(0) }
            try await eventually {
                try await onStandby("get", "c/d", "--database", "late").output.first?.contains(#""n":1"#) == true
            }
            try await eventually { try await onStandby("indexes", "list").output.count == 1 }
            try await eventually { try await onStandby("indexes", "list", "--database", "late").output.count == 1 }
            // The key that was created later opens the standby as well.
            let other = try await hearth("keys", "create", "--role", "reader", "--label", "second", "--data", data.path).output[0]
            try await eventually {
                try await hearth("list", "--server", standby.address, environment: ["HEARTH_KEY": other]).status == .code(0)
            }
            try await onPrimary("databases", "delete", "early")
            try await eventually { try await onStandby("databases").output == ["hearth/(default)", "hearth/late"] }
            // Deleted and created again: another history.
            try await onPrimary("databases", "delete", "late")
            try await onPrimary("set", "c/d", #"{"n": 2}"#, "--database", "late")
            try await eventually {
                try await onStandby("get", "c/d", "--database", "late").output.first?.contains(#""n":2"#) == true
            }
            #expect(try await standby.stop() == .code(0))
            // Also what happens while it is away.
            try await onPrimary("databases", "delete", "late")
            let again = try await servers.start(
                data: standby.folder,
                arguments: ["--follow", primary.address, "--follow-key", file.path]
            )
            try await eventually {
                try await again.run(["databases", "--key-file", file.path]).output == ["hearth/(default)"]
            }
            #expect(try await again.stop() == .code(0))
            #expect(try await primary.stop() == .code(0))
        }
    }

    @Test func `A promoted standby begins a branch, which the former primary follows with its other commits set aside`()
        async throws
    {
        try await withServers { folder, servers in
            let primary = try await servers.start(data: folder.appending(path: "a"))
            for number in 0..<5 { try await primary.write("books/b\(number)", Int64(number)) }
            let standby = try await servers.start(data: folder.appending(path: "b"), arguments: ["--follow", primary.address])
            let early = try await primary.token()
            try await primary.write("books/shared", 1)
            try await standby.waitForCommits(of: primary)
            let refused = try await standby.run(["promote"])
            #expect(refused.status == .code(1) && refused.errorText.contains("is in operation"), "\(refused)")
            let promotion = try await standby.run(["promote", "--force"])
            #expect(promotion.status == .code(0) && promotion.output == ["promoted"], "\(promotion)")
            // Nobody has stopped the former primary: it goes on without the others.
            try await primary.write("books/lost", 1)
            try await primary.write("books/shared", 2)
            let own = try await hearth("set", "c/d", "{}", "--database", "own", "--server", primary.address)
            #expect(own.status == .code(0))
            let late = try await primary.token()
            let (former, branch) = (try await primary.information(), try await standby.information())
            #expect(branch.epoch != former.epoch && branch.sequence == 6 && former.sequence == 8)
            try await standby.write("books/shared", 3)
            try await standby.write("books/new", 1)
            #expect(try await standby.information().sequence == 8)
            #expect(try await !standby.frames(resuming: early, through: "books/new").contains(.reset))
            #expect(try await standby.frames(resuming: late, through: "books/new").contains(.reset))
            #expect(try await primary.stop() == .code(0))

            try await followPromoted(standby, branch, primary, servers)
        }
    }

    /// Starts a former primary as a standby of the server that was promoted.
    private func followPromoted(
        _ standby: EndToEndServer,
        _ branch: ServerInformation,
        _ primary: EndToEndServer,
        _ servers: ServerList
    ) async throws {
        let former = try await servers.start(data: primary.folder, arguments: ["--follow", standby.address])
        // It restarts to install the snapshot.
        try await eventually { (try? await former.information())?.epoch == branch.epoch }
        try await former.waitForCommits(of: standby)
        #expect(try await former.value(of: "books/shared") == 3)
        #expect(try await former.value(of: "books/lost") == nil)
        let files = try FileManager.default.contentsOfDirectory(atPath: primary.folder.path + "/standby")
        let name = try #require(files.first { $0.hasPrefix("set-aside-default-") }, "\(files)")
        let lines = try String(contentsOf: primary.folder.appending(path: "standby/\(name)"), encoding: .utf8).split(
            separator: "\n"
        )
        #expect(lines.count == 2 && lines[0].contains("books/lost") && lines[1].contains(#""n":2"#), "\(lines)")
        // A database that only the former primary has is kept.
        try await eventually { try await former.run(["databases"]).output == ["hearth/(default)"] }
        let kept = try FileManager.default.subpathsOfDirectory(atPath: primary.folder.path + "/standby")
        #expect(kept.contains { $0.hasSuffix("documents/c/d.json") }, "\(kept)")
        let doctor = try await hearth("doctor", "--data", primary.folder.path, "--port", "\(former.port)")
        let paths = "standby/aside-1, standby/set-aside-default-"
        #expect(doctor.output.contains { $0.hasPrefix("! ") && $0.contains(paths) }, "\(doctor)")
        #expect(try await former.exported() == standby.exported())
        #expect(try await former.stop() == .code(0))
        // A leftover option does not make the new primary a standby again.
        #expect(try await standby.stop() == .code(0))
        let restarted = try await servers.start(data: standby.folder, arguments: ["--follow", primary.address])
        try await restarted.write("books/again", 1)
        #expect(try await restarted.stop() == .code(0))
        for data in [primary.folder, standby.folder] {
            let check = try await hearth("check", "--data", data.path)
            #expect(check.status == .code(0), "\(check)")
        }
    }

    @Test func `A planned change of roles loses nothing: the primary's last commits arrive before its stream ends`() async throws
    {
        try await withServers { folder, servers in
            let load = CounterLoad()
            let primary = try await servers.start(data: folder.appending(path: "a"))
            let standby = try await servers.start(data: folder.appending(path: "b"), arguments: ["--follow", primary.address])
            let running = load.start(on: primary)
            try await eventually { load.acknowledgedCount > 100 }
            try await standby.waitForCommits(of: primary)
            // While the writers go on.
            #expect(try await primary.stop() == .code(0))
            await running.stop()
            let promotion = try await standby.run(["promote", "--force"])
            #expect(promotion.status == .code(0), "\(promotion)")
            #expect(try await load.violations(on: standby, asOf: .maximum) == [])
            #expect(try await standby.stop() == .code(0))
            // The former primary has nothing more either, and goes on as a standby without a snapshot.
            let next = try await servers.start(data: standby.folder)
            let former = try await servers.start(data: primary.folder, arguments: ["--follow", next.address])
            try await former.waitForCommits(of: next)
            #expect(try await former.metrics()["hearth_standby_snapshots_total"] == 0)
            #expect(try await former.stop() == .code(0))
            #expect(try await next.stop() == .code(0))
        }
    }

    @Test func `Roles change back and forth with the same options`() async throws {
        try await withServers { folder, servers in
            var primary = try await servers.start(data: folder.appending(path: "a"))
            try await primary.write("books/b", 0)
            var standby = try await servers.start(data: folder.appending(path: "b"), arguments: ["--follow", primary.address])
            for round in 1...3 {
                try await standby.waitForCommits(of: primary)
                #expect(try await primary.stop() == .code(0))
                // It refuses as long as it has not seen the end of the primary.
                try await eventually { try await standby.run(["promote"]).status == .code(0) }
                try await standby.write("books/b", Int64(round))
                // The options of the first start stay, as in a unit file: they have no effect while nobody has taken over.
                let port = "\(standby.port)"
                #expect(try await standby.stop() == .code(0))
                standby = try await servers.start(data: standby.folder, port: port, arguments: ["--follow", primary.address])
                try await standby.write("books/again", Int64(round))
                let former = try await servers.start(
                    data: primary.folder,
                    port: "\(primary.port)",
                    arguments: ["--follow", standby.address]
                )
                try await former.waitForCommits(of: standby)
                #expect(try await former.metrics()["hearth_standby_snapshots_total"] == 0)
                (primary, standby) = (standby, former)
            }
            #expect(try await standby.value(of: "books/b") == 3)
            #expect(try await standby.stop() == .code(0))
            #expect(try await primary.stop() == .code(0))
        }
    }

    @Test func `A first start that cannot succeed ends with the reason`() async throws {
        try await withServers { folder, servers in
            let primary = try await servers.start(data: folder.appending(path: "a"))
            let data = folder.appending(path: "b").path
            let refused = try await hearth(
                "serve",
                "--data",
                data,
                "--port",
                "0",
                "--follow",
                primary.address,
                "--project",
                "other"
            )
            #expect(refused.status == .code(1) && refused.errorText.contains("--project"), "\(refused)")
            #expect(try await primary.stop() == .code(0))
        }
    }

    @Test func `A damaged database does not hold up the others, and is followed once it is repaired`() async throws {
        try await withServers { folder, servers in
            let primary = try await servers.start(data: folder.appending(path: "a"))
            for name in ["one", "two"] {
                let set = try await primary.run(["set", "c/d", #"{"n": 1}"#, "--database", name])
                #expect(set.status == .code(0))
            }
            var standby = try await servers.start(data: folder.appending(path: "b"), arguments: ["--follow", primary.address])
            try await eventually { try await standby.run(["databases"]).output.count == 3 }
            try await eventually { try await standby.run(["get", "c/d", "--database", "two"]).status == .code(0) }
            #expect(try await standby.stop() == .code(0))
            let manifest = standby.folder.appending(path: "databases/hearth/one/hearth.json")
            let bytes = try Data(contentsOf: manifest)
            try Data("damaged".utf8).write(to: manifest)
            standby = try await servers.start(data: standby.folder, arguments: ["--follow", primary.address])
            let set = try await primary.run(["set", "c/d", #"{"n": 2}"#, "--database", "two"])
            #expect(set.status == .code(0))
            try await primary.write("books/b", 2)
            try await standby.waitForCommits(of: primary)
            try await eventually {
                try await standby.run(["get", "c/d", "--database", "two"]).output.first?.contains(#""n":2"#) == true
            }
            try await standby.waitForFailure()
            #expect(try await standby.metrics()["hearth_standby_lag_seconds"] == .infinity)
            let refused = try await standby.run(["promote"])
            #expect(refused.status == .code(1), "\(refused)")
            try bytes.write(to: manifest)
            try await eventually { try await standby.metrics()["hearth_standby_failed"] == 0 }
            #expect(try await standby.stop() == .code(0))
            #expect(try await primary.stop() == .code(0))
        }
    }

    @Test func `A network that loses everything is noticed, and its end as well`() async throws {
        try await withServers { folder, servers in
            let primary = try await servers.start(data: folder.appending(path: "a"))
            let proxy = try CuttingProxy(to: primary.port)
            defer { proxy.stop() }
            let following = ["--follow", "http://127.0.0.1:\(proxy.port)"]
            let standby = try await servers.start(data: folder.appending(path: "b"), arguments: following)
            try await primary.write("books/b", 1)
            try await standby.waitForCommits(of: primary)
            proxy.setSilent(true)
            try await primary.write("books/b", 2)
            try await eventually { try await standby.metrics()["hearth_standby_connected"] == 0 }
            // A primary that cannot be reached is no failure, but the state becomes older.
            #expect(try await standby.metrics()["hearth_standby_failed"] == 0)
            #expect(try await standby.value(of: "books/b") == 1)
            let stale = try await shell("curl -si \(standby.address)/health -H 'Hearth-Max-Age: 5'").output
            #expect(stale.first?.contains("503") == true, "\(stale)")
            proxy.setSilent(false)
            try await standby.waitForCommits(of: primary)
            #expect(try await standby.value(of: "books/b") == 2)
            #expect(try await standby.stop() == .code(0))
            #expect(try await primary.stop() == .code(0))
        }
    }

    @Test(.enabled(if: NetworkNamespace.isAvailable, NetworkNamespace.requirement))
    func `A cable that is pulled out and put back costs nothing, and a promotion meanwhile says what may be missing`()
        async throws
    {
        try await NetworkNamespace.with { network in
            try await withServers { folder, servers in
                let data = folder.appending(path: "a")
                let file = folder.appending(path: "key")
                let key = try await hearth("keys", "create", "--role", "admin", "--label", "x", "--data", data.path).output[0]
                try Data(key.utf8).write(to: file)
                let primary = try await servers.start(data: data, arguments: ["--host", network.address])
                func write(_ number: Int) async throws {
                    let result = try await primary.run(["set", "books/b", "{\"n\": \(number)}", "--key-file", file.path])
                    #expect(result.status == .code(0), "\(result)")
                }
                try await write(1)
                let options = "--data \(folder.path)/b --port 8080 --follow \(primary.address) --follow-key \(file.path)"
                let process = try HearthProcess(
                    ["-c", "PATH=$PATH:/usr/sbin:/sbin; \(network.command) $HEARTH serve \(options)"],
                    program: URL(filePath: "/bin/bash"),
                    environment: ["HEARTH": HearthProcess.executable.path]
                )
                do {
                    func standby(_ command: String) async throws -> CommandResult {
                        try await network.shell("HEARTH_KEY=\(key) $HEARTH \(command)")
                    }
                    func has(_ number: Int) async throws -> Bool {
                        try await standby("get books/b").output.first?.contains("\"n\":\(number)") == true
                    }
                    func isConnected() async throws -> Bool {
                        try await standby("status").output.contains { $0.hasPrefix("behind") && $0.contains("less than") }
                    }
                    try await eventually { try await has(1) }
                    try await network.setConnected(false)
                    try await write(2)
                    // Neither side is told: the standby notices the silence, and serves what it has.
                    try await eventually { try await !isConnected() }
                    #expect(try await has(1))
                    try await network.setConnected(true)
                    try await eventually { try await has(2) }
                    try await eventually { try await isConnected() }

                    try await network.setConnected(false)
                    try await write(3)
                    var promotion = try await standby("promote")
                    while promotion.status != .code(0) {
                        #expect(promotion.errorText.contains("is in operation"), "\(promotion)")
                        promotion = try await standby("promote")
                    }
                    let warning = "may lack what its primary, \(primary.address), has committed"
                    #expect(promotion.errorText.contains(warning), "\(promotion)")
                    #expect(try await has(2))
                    #expect(try await standby(#"set books/b "{\"n\":4}""#).status == .code(0))
                } catch {
                    _ = try await process.end(with: SIGKILL)
                    throw error
                }
                #expect(try await process.end(with: SIGTERM) == .code(0))
                #expect(try await primary.stop() == .code(0))
            }
        }
    }

    @Test func `Rules that do not compile are taken over, deny what they would decide, and stop nothing`() async throws {
        try await withServers { folder, servers in
            let data = folder.appending(path: "a")
            let key = try await hearth("keys", "create", "--role", "admin", "--label", "x", "--data", data.path).output[0]
            let file = folder.appending(path: "key")
            try Data(key.utf8).write(to: file)
            let rules = data.appending(path: "firestore.rules")
            try Data("service cloud.firestore { match /{p=**} { allow read; } }".utf8).write(to: rules)
            let primary = try await servers.start(data: data)
            let following = ["--follow", primary.address, "--follow-key", file.path]
            func set(_ number: Int) async throws {
                let result = try await primary.run(["set", "books/b", "{\"n\": \(number)}", "--key-file", file.path])
                #expect(result.status == .code(0), "\(result)")
            }
            try await set(1)
            var standby = try await servers.start(data: folder.appending(path: "b"), arguments: following)
            func has(_ number: Int) async throws -> Bool {
                let document = try await standby.run(["get", "books/b", "--key-file", file.path]).output.first
                return document?.contains("\"n\":\(number)") == true
            }
            // An end user, who has no key.
            func permits() async throws -> Bool { try await standby.run(["get", "books/b"]).status == .code(0) }
            try await eventually { try await permits() }
            // As a person edits the file: no call takes such rules.
            try Data("service cloud.firestore { match".utf8).write(to: rules, options: .atomic)
            let copy = standby.folder.appending(path: "firestore.rules")
            try await eventually { try String(contentsOf: copy, encoding: .utf8).hasSuffix("{ match") }
            try await set(2)
            try await eventually { try await has(2) }
            // The last rules that could be used decide until a restart; then, nothing is permitted.
            #expect(try await permits())
            #expect(try await standby.stop() == .code(0))
            standby = try await servers.start(data: standby.folder, arguments: following)
            try await set(3)
            try await eventually { try await has(3) }
            #expect(try await !permits())
            try Data("service cloud.firestore { match /{p=**} { allow read; } }".utf8).write(to: rules, options: .atomic)
            try await eventually { try await permits() }
            #expect(try await standby.stop() == .code(0))
            #expect(try await primary.stop() == .code(0))
        }
    }

    @Test func `Quotas follow, and bind the standby once it is promoted`() async throws {
        try await withServers { folder, servers in
            let primary = try await servers.start(data: folder.appending(path: "a"))
            try await primary.write("books/b", 1)
            let standby = try await servers.start(data: folder.appending(path: "b"), arguments: ["--follow", primary.address])
            #expect(try await primary.run(["databases", "quota", "--documents", "1"]).status == .code(0))
            try await eventually {
                try await standby.run(["databases", "quota"]).output.first == "documents: 1 of 1"
            }
            #expect(try await standby.run(["databases", "quota", "--none"]).errorText.contains("FAILED_PRECONDITION"))
            #expect(try await primary.stop() == .code(0))
            #expect(try await standby.run(["promote", "--force"]).status == .code(0))
            #expect(try await standby.run(["set", "books/c", "{}"]).errorText.contains("RESOURCE_EXHAUSTED"))
            #expect(try await standby.stop() == .code(0))
        }
    }

    @Test func `A standby that has fallen out of the journal takes a snapshot again`() async throws {
        try await withServers { folder, servers in
            var primary = try await servers.start(data: folder.appending(path: "a"))
            for number in 0..<20 { try await primary.write("books/b\(number)", 1) }
            let standby = try await servers.start(data: folder.appending(path: "b"), arguments: ["--follow", primary.address])
            #expect(try await standby.stop() == .code(0))
            for number in 0..<20 { try await primary.write("books/b\(number)", 2) }
            try await primary.connection.delete(DocumentPath("books/b7"))
            #expect(try await primary.stop() == .code(0))
            // A data folder that was closed is complete without its journal.
            try FileManager.default.removeItem(at: primary.folder.appending(path: "journal"))
            primary = try await servers.start(data: primary.folder)
            let again = try await servers.start(data: standby.folder, arguments: ["--follow", primary.address])
            try await again.waitForCommits(of: primary)
            try await primary.write("books/last", 3)
            try await again.waitForCommits(of: primary)
            #expect(try await again.exported() == primary.exported())
            #expect(try await again.value(of: "books/b7") == nil)
            #expect(try await again.stop() == .code(0))
            let record = standby.folder.appending(path: "standby/standby.json")
            #expect(try String(contentsOf: record, encoding: .utf8).contains("snapshots") == false)
            #expect(try await primary.stop() == .code(0))
            #expect(try await hearth("check", "--data", standby.folder.path).status == .code(0))
        }
    }

    @Test func `A standby that falls out of the journal again and again puts off the next snapshot, and says so`() async throws {
        try await withServers { folder, servers in
            var primary = try await servers.start(data: folder.appending(path: "a"))
            try await primary.write("books/b", 1)
            let standby = try await servers.start(data: folder.appending(path: "b"), arguments: ["--follow", primary.address])
            try await standby.waitForCommits(of: primary)
            #expect(try await standby.stop() == .code(0))
            try await primary.write("books/b", 2)
            #expect(try await primary.stop() == .code(0))
            try FileManager.default.removeItem(at: primary.folder.appending(path: "journal"))
            primary = try await servers.start(data: primary.folder)
            // As after three snapshots, each of which was too old once it was installed.
            let record = standby.folder.appending(path: "standby/standby.json")
            let text = try String(contentsOf: record, encoding: .utf8)
            try text.replacing(#""state":"following""#, with: #""state":"following","snapshots":3"#)
                .write(to: record, atomically: true, encoding: .utf8)
            let again = try await servers.start(data: standby.folder, arguments: ["--follow", primary.address])
            try await again.waitForFailure()
            #expect(try await again.value(of: "books/b") == 1)
            #expect(try await again.metrics()["hearth_standby_snapshots_total"] == 0)
            #expect(try await again.stop() == .code(0))
            let errors = await again.process.errors.reduce(into: []) { $0.append($1) }
            #expect(errors.contains { $0.contains("putting off the next snapshot") && $0.contains("in 120 s") }, "\(errors)")
            #expect(try await primary.stop() == .code(0))
        }
    }

    @Test func `Nothing is applied with a wrong key, or from a server with another history`() async throws {
        try await withServers { folder, servers in
            let primary = try await servers.start(data: folder.appending(path: "a"))
            try await primary.write("books/b", 1)
            let standby = try await servers.start(data: folder.appending(path: "b"), arguments: ["--follow", primary.address])
            try await standby.waitForCommits(of: primary)
            #expect(try await standby.stop() == .code(0))
            // From now on, the primary requires a key. The standby has not heard of it: it would require one, too.
            _ = try await hearth("keys", "create", "--role", "admin", "--label", "x", "--data", primary.folder.path)
            try await eventually { (try? await primary.information()) == nil }
            let refused = try await servers.start(data: standby.folder, arguments: ["--follow", primary.address])
            try await refused.waitForFailure()
            #expect(try await refused.value(of: "books/b") == 1)
            #expect(try await refused.stop() == .code(0))

            let other = try await servers.start(data: folder.appending(path: "c"))
            for number in 0..<3 { try await other.write("books/other\(number)", 1) }
            let confused = try await servers.start(data: standby.folder, arguments: ["--follow", other.address])
            try await confused.waitForFailure()
            #expect(try await confused.value(of: "books/b") == 1)
            #expect(try await confused.value(of: "books/other0") == nil)
            let status = try await confused.run(["status"])
            #expect(status.status == .code(1) && status.output.contains { $0.hasPrefix("! ") }, "\(status)")
            // A standby is not followed.
            let chained = try await shell(
                "curl -s \(confused.address)/replicate -H 'Content-Type: application/json' -d '{\"version\":1,\"databases\":[]}'"
            )
            #expect(chained.output.joined().contains("FAILED_PRECONDITION"), "\(chained)")
            for server in [confused, other, primary] { #expect(try await server.stop() == .code(0)) }
        }
    }

    @Test(.enabled(if: TmpfsVolume.isAvailable))
    func `A standby with a full disk applies nothing more, says so, and goes on when there is space`() async throws {
        try await TmpfsVolume.with(size: "48m") { volume in
            try await withServers { folder, servers in
                let primary = try await servers.start(data: folder.appending(path: "a"))
                try await primary.write("books/b", 1)
                let data = volume.folder.appending(path: "data")
                let standby = try await servers.start(data: data, arguments: ["--follow", primary.address])
                try volume.fill()
                for number in 0..<40 {
                    let text = Value.string(String(repeating: "x", count: 500_000))
                    try await primary.connection.set(DocumentPath("books/large\(number)"), ["text": text])
                }
                try await standby.waitForFailure()
                #expect(try await standby.value(of: "books/b") == 1)
                try volume.remount("size=256m")
                try await standby.waitForCommits(of: primary)
                // To export twenty megabytes takes a debug build minutes.
                for path in ["books/b", "books/large0", "books/large39"] {
                    #expect(try await standby.document(path) == primary.document(path))
                }
                #expect(try await standby.stop() == .code(0))
                #expect(try await primary.stop() == .code(0))
                #expect(try await hearth("check", "--data", data.path).status == .code(0))
            }
        }
    }

    @Test func `A folder of a stopped standby is promoted`() async throws {
        try await withServers { folder, servers in
            let primary = try await servers.start(data: folder.appending(path: "a"))
            try await primary.write("books/b", 1)
            let standby = try await servers.start(data: folder.appending(path: "b"), arguments: ["--follow", primary.address])
            try await standby.waitForCommits(of: primary)
            let running = try await hearth("promote", "--data", standby.folder.path)
            #expect(running.status == .code(1) && running.errorText.contains("in use"), "\(running)")
            // As after the loss of power.
            _ = try await standby.stop(with: SIGKILL)
            let promoted = try await hearth("promote", "--data", standby.folder.path)
            #expect(promoted.status == .code(0), "\(promoted)")
            let next = try await servers.start(data: standby.folder)
            try await next.write("books/b", 2)
            #expect(try await next.information().sequence == 2)
            #expect(try await next.information().epoch != primary.information().epoch)
            #expect(try await primary.run(["promote"]).errorText.contains("FAILED_PRECONDITION"))
            #expect(try await primary.stop() == .code(0))
            // Without commits of its own, the former primary goes on from where it was.
            let former = try await servers.start(data: primary.folder, arguments: ["--follow", next.address])
            try await eventually { (try? await former.value(of: "books/b")) == 2 }
            #expect(try await former.information().epoch == next.information().epoch)
            #expect(try await former.metrics()["hearth_standby_snapshots_total"] == 0)
            #expect(try await former.stop() == .code(0))
            #expect(try FileManager.default.contentsOfDirectory(atPath: primary.folder.path + "/standby") == ["standby.json"])
            #expect(try await next.stop() == .code(0))
            let again = try await hearth("promote", "--data", standby.folder.path)
            #expect(again.status == .code(1) && again.errorText.contains("nothing to promote"), "\(again)")
        }
    }
}
