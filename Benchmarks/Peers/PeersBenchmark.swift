import ArgumentParser
import Foundation

/// The comparison with other databases on the same machine, in the same run.
struct PeersBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "peers",
        abstract: "The same work in Hearth, etcd, PostgreSQL and nginx, as far as they are installed.",
        discussion: """
            Starts each system on a temporary folder and a free port, and stops it at the end. The systems take turns with each \
            workload. Needs the Debian packages etcd-server, postgresql and nginx-light; a system that is not installed is left out.
            """
    )

    @OptionGroup var options: BenchmarkOptions

    @Option(help: "Number of concurrent connections.")
    var connections = 16

    @Option(help: "Number of callers that increment one counter.")
    var callers = 8

    @Option(help: "Number of watchers.")
    var watchers = 200

    @Option(help: "Number of commits per second that they watch.")
    var rate = 20

    @Option(help: "Number of documents that exist before the runs.")
    var documents = 2_000

    @Option(help: "Duration of a run in seconds.")
    var seconds = 3

    @Option(help: "Number of runs; the medians are reported.")
    var rounds = 3

    @Option(help: "Write the table as Markdown to this file.")
    var markdown: String?

    @Option(help: "Path of the hearth executable; the default is the one next to this program.")
    var hearth: String?

    func validate() throws {
        guard connections >= 1, callers >= 1, watchers >= 1, rate >= 1, documents >= 200, seconds >= 1, rounds >= 1 else {
            throw ValidationError("Requires at least 200 documents, and 1 of everything else.")
        }
    }

    func run() async throws {
        let comparison = try await BackgroundLoad.with(options.busy) {
            try await RawFileIO.withTemporaryFolder(in: options.folder) { folder in
                // PostgreSQL runs as another user.
                try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder)
                return try await measure(in: folder)
            }
        }
        var report = Report()
        for measurement in comparison.measurements { report.add(measurement) }
        print("\n" + comparison.markdown)
        if let path = options.json { try report.write(to: path) }
        if let path = markdown { try RawFileIO.write(Array(comparison.markdown.utf8), to: path) }
    }

    private func measure(in folder: String) async throws -> PeerComparison {
        let documents = PeerDocuments(count: documents)
        var peers: [any Peer] = []
        defer { for peer in peers { peer.stop() } }
        let program = try hearth ?? SpawnedProcess.sibling("hearth")
        peers.append(try await HearthPeer(documents, program: program, watchers: watchers, in: folder))
        add(try await EtcdPeer(documents, in: folder), "etcd", package: "etcd-server", to: &peers)
        add(try await PostgresPeer(documents, in: folder), "PostgreSQL", package: "postgresql", to: &peers)
        add(try await NginxPeer(documents, in: folder), "nginx", package: "nginx-light", to: &peers)
        peers.append(try NIOHandlerPeer(in: folder))
        peers.append(try FilePeer(documents, in: folder))
        var comparison = PeerComparison(peers: peers.map(\.name))
        for round in 0..<rounds {
            for workload in PeerWorkload.allCases {
                for peer in peers {
                    let load = PeerLoad(
                        connections: connections,
                        callers: callers,
                        watchers: watchers,
                        watchedCommits: rate,
                        duration: .seconds(seconds),
                        documents: documents,
                        run: round
                    )
                    if let measurement = try await measure(workload, load, of: peer) {
                        comparison.add(measurement, workload, of: peer.name)
                    }
                }
            }
        }
        return comparison
    }

    private func add(_ peer: (any Peer)?, _ name: String, package: String, to peers: inout [any Peer]) {
        if let peer { peers.append(peer) } else { print("\(name) is not installed and is left out: apt-get install \(package)") }
    }

    private func measure(_ workload: PeerWorkload, _ load: PeerLoad, of peer: any Peer) async throws -> Measurement? {
        let clock = ContinuousClock()
        try await peer.waitUntilIdle()
        let processorStart = try peer.processorTime()
        let start = clock.now
        guard let operations = try await peer.run(workload, load) else { return nil }
        let elapsed = clock.now - start
        // Work that the system puts off counts too, and must not slow down the next one.
        try await peer.waitUntilIdle()
        return Measurement(
            name: "\(workload.rawValue), \(peer.name)",
            operations: max(1, operations),
            unit: workload == .watch ? "frame" : "operation",
            elapsed: elapsed,
            processorTime: try peer.processorTime() - processorStart
        )
    }
}

/// The measurements of all systems, by workload.
struct PeerComparison {
    /// The names of the systems; the first one is Hearth.
    let peers: [String]
    private var samples: [String: [Measurement]] = [:]

    init(peers: [String]) {
        self.peers = peers
    }

    mutating func add(_ measurement: Measurement, _ workload: PeerWorkload, of peer: String) {
        samples[Self.key(workload, peer), default: []].append(measurement)
    }

    /// The median of each workload and system.
    var measurements: [Measurement] {
        PeerWorkload.allCases.flatMap { workload in peers.compactMap { median(workload, $0) } }
    }

    /// The table: rate, CPU time of the server, and the ratios of Hearth to the system.
    var markdown: String {
        var lines = ["| | " + peers.joined(separator: " | ") + " |", "|" + String(repeating: " --- |", count: peers.count + 1)]
        for workload in PeerWorkload.allCases {
            let cells = peers.map { cell(workload, $0) }
            lines.append("| \(workload.rawValue) | " + cells.joined(separator: " | ") + " |")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func cell(_ workload: PeerWorkload, _ peer: String) -> String {
        guard let measurement = median(workload, peer) else { return "–" }
        // The rate of the watched commits is given.
        guard workload != .watch else { return watchCell(measurement, peer) }
        let text = "\(Report.grouped(measurement.rate))/s, \(Report.grouped(measurement.processorMicroseconds)) µs"
        guard peer != peers[0], let own = median(workload, peers[0]) else { return text }
        let processor = own.processorMicroseconds / max(0.1, measurement.processorMicroseconds)
        let ratio = "\(Self.ratio(own.rate / measurement.rate)) rate, \(Self.ratio(processor)) CPU"
        return text + "<br>" + ratio
    }

    private func watchCell(_ measurement: Measurement, _ peer: String) -> String {
        let text = "\(Report.grouped(measurement.processorMicroseconds)) µs"
        guard peer != peers[0], let own = median(.watch, peers[0]) else { return text }
        return text + "<br>" + Self.ratio(own.processorMicroseconds / max(0.1, measurement.processorMicroseconds)) + " CPU"
    }

    /// Returns the measurement with the median rate, and the median CPU time.
    private func median(_ workload: PeerWorkload, _ peer: String) -> Measurement? {
        guard let samples = samples[Self.key(workload, peer)] else { return nil }
        var median = samples.sorted { $0.rate < $1.rate }[samples.count / 2]
        let processor = samples.map(\.processorMicroseconds).sorted()[samples.count / 2]
        median.processorTime = .nanoseconds(Int64(processor * 1_000 * Double(median.operations)))
        return median
    }

    private static func key(_ workload: PeerWorkload, _ peer: String) -> String { workload.rawValue + "/" + peer }

    private static func ratio(_ value: Double) -> String {
        value < 10 ? Report.decimal(value, digits: value < 1 ? 2 : 1) + " ×" : Report.grouped(value) + " ×"
    }
}
