import Foundation
import HearthClient
import Testing

/// Code in the style of Firestore's documentation, mainly with closures. Compiling it is part of the test.
@Suite("Compatibility with Firestore's SDK", .timeLimit(.minutes(10)))
struct ClientCompatibilityTests {
    struct City: Codable {
        let name: String
        let state: String?
        let isCapital: Bool?
        let population: Int64?

        enum CodingKeys: String, CodingKey {
            case name
            case state
            case isCapital = "capital"
            case population
        }
    }

    @Test func `Writes, reads, updates and deletes with completion handlers`() async throws {
        try await withServer { server in
            let db = server.firestore
            let log = await withCheckedContinuation { continuation in
                program(db) { continuation.resume(returning: $0) }
            }
            #expect(
                log == [
                    "added 20", "set", "SF: 860000", "missing", "San Francisco", "populated 860001", "batch", "updated",
                    "all BJ,LA,SF", "deleted", "not found",
                ]
            )
            #expect(try await db.document("cities/SF").getDocument().get("regions") as? [String] == ["west", "norcal"])
            #expect(try await db.document("cities/BJ").getDocument().get("capital") as? Bool == true)
            try await db.terminate()
        }
    }

    private func program(_ db: Firestore, done: @escaping ([String]) -> Void) {
        var log: [String] = []
        var ref: DocumentReference? = nil
        ref = db.collection("users").addDocument(data: ["first": "Ada", "born": 1815]) { err in
            if let err = err {
                log.append("\(err)")
            } else {
                log.append("added \(ref!.documentID.count)")  // Set before it is called.
            }
        }
        let cities = db.collection("cities")
        let sf = cities.document("SF")
        sf.setData([
            "name": "San Francisco", "state": "CA", "capital": false, "population": 860_000, "regions": ["west"],
            "founded": Timestamp(date: Date(timeIntervalSince1970: -6_106_060_800)),
            "center": GeoPoint(latitude: 37.77, longitude: -122.42),
        ]) { err in
            log.append(err == nil ? "set" : "failed")
        }
        cities.document("BJ").setData(["capital": true], merge: true)
        sf.getDocument { (document, error) in
            if let document = document, document.exists, let population = document.data()?["population"] as? Int {
                log.append("\(document.documentID): \(population)")
            }
            cities.document("Atlantis").getDocument(source: .server) { (document, _) in
                log.append(document?.exists == false ? "missing" : "there")
                sf.getDocument(as: City.self) { result in
                    switch result {
                    case .success(let city): log.append(city.name)
                    case .failure(let error): log.append("\(error)")
                    }
                    self.change(db, sf, log, done)
                }
            }
        }
    }

    private func change(_ db: Firestore, _ sf: DocumentReference, _ before: [String], _ done: @escaping ([String]) -> Void) {
        var log = before
        let cities = db.collection("cities")
        // swift-format-ignore: OnlyOneTrailingClosureArgument
        db.runTransaction({ (transaction, errorPointer) -> Any? in
            let sfDocument: DocumentSnapshot
            do {
                try sfDocument = transaction.getDocument(sf)
            } catch let fetchError as NSError {
                errorPointer?.pointee = fetchError
                return nil
            }
            guard let oldPopulation = sfDocument.data()?["population"] as? Int else {
                errorPointer?.pointee = NSError(domain: "AppErrorDomain", code: -1, userInfo: [:])
                return nil
            }
            transaction.updateData(["population": oldPopulation + 1], forDocument: sf)
            return oldPopulation + 1
        }) { (object, error) in
            log.append("populated \(object as? Int ?? 0)")
            let batch = db.batch()
            batch.setData(["name": "Los Angeles"], forDocument: cities.document("LA"))
            batch.updateData(["population": FieldValue.increment(Int64(50))], forDocument: sf)
            batch.commit { err in
                log.append(err == nil ? "batch" : "failed")
                sf.updateData(["regions": FieldValue.arrayUnion(["norcal"]), "lastUpdated": FieldValue.serverTimestamp()]) {
                    err in
                    log.append(err == nil ? "updated" : "failed")
                    cities.getDocuments { (querySnapshot, err) in
                        log.append(
                            "all " + (querySnapshot?.documents.map(\.documentID).joined(separator: ",") ?? "\(err as Any)")
                        )
                        cities.document("DC").delete { err in
                            log.append(err == nil ? "deleted" : "failed")
                            cities.document("DC").updateData(["name": "x"]) { err in
                                let code = (err as? NSError).flatMap { FirestoreErrorCode.Code(rawValue: $0.code) }
                                log.append(code == .notFound ? "not found" : "\(err as Any)")
                                done(log)
                            }
                        }
                    }
                }
            }
        }
    }

    @Test func `Listens with closures and inspects changes`() async throws {
        try await withServer { server in
            let db = server.firestore
            let (lines, continuation) = AsyncStream.makeStream(of: String.self)
            let listener = db.collection("cities").addSnapshotListener(includeMetadataChanges: true) { querySnapshot, error in
                guard let snapshot = querySnapshot else {
                    continuation.yield("Error fetching snapshots: \(String(describing: error))")
                    return
                }
                if snapshot.isEmpty { continuation.yield("empty") }
                for diff in snapshot.documentChanges {
                    if diff.type == .added { continuation.yield("New city: \(diff.document.documentID)") }
                    if diff.type == .modified { continuation.yield("Modified city: \(diff.document.data()["n"] ?? "")") }
                    if diff.type == .removed { continuation.yield("Removed city: \(diff.document.documentID)") }
                }
            }
            var iterator = lines.makeAsyncIterator()
            #expect(await iterator.next() == "empty")
            let city = db.document("cities/a")
            try await city.setData(["n": 1])
            #expect(await iterator.next() == "New city: a")
            try await city.setData(["n": 2])
            #expect(await iterator.next() == "Modified city: 2")
            try await city.delete()
            #expect(await iterator.next() == "empty")
            #expect(await iterator.next() == "Removed city: a")
            listener.remove()
            try await db.terminate()
        }
    }

    @Test func `Settings can be changed before the first use`() {
        let db = Firestore(settings: FirestoreSettings())
        let settings = FirestoreSettings()
        settings.host = "localhost:8080"
        settings.isSSLEnabled = false
        settings.dispatchQueue = DispatchQueue(label: "callbacks")
        db.settings = settings
        #expect(db.settings.host == "localhost:8080")
        db.useEmulator(withHost: "127.0.0.1", port: 8_081)
        #expect(db.settings.host == "127.0.0.1:8081")
        #expect(db.settings.dispatchQueue.label == "callbacks")
        #expect(Firestore.firestore() === Firestore.firestore())
    }
}
