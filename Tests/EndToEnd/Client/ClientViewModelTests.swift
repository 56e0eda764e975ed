import Foundation
import HearthClient
import OpenCombine
import Testing

@Suite("View models", .timeLimit(.minutes(10)))
struct ClientViewModelTests {
    @Test func `A view model fetches a document and reports errors`() async throws {
        try await withGuide { @MainActor db in
            let model = BookViewModel(db)
            model.fetchBook(documentID: "hitchhiker")
            #expect(await model.next(\.$book) { $0 != nil }??.title == "The Ultimate Hitchhiker's Guide to the Galaxy")
            model.fetchBook(documentID: "invalid-data")
            #expect(await model.next(\.$errorMessage) { $0?.contains("books/invalid-data") == true } != nil)
            model.fetchBook(documentID: "does-not-exist")
            #expect(await model.next(\.$errorMessage) { $0?.contains("books/does-not-exist") == true } != nil)
            await model.fetchAndMap(documentID: "hitchhiker")
            #expect(model.book?.numberOfPages == 816)
            #expect(model.errorMessage == nil)
        }
    }

    @Test func `A view model shows live changes and reports an invalid document`() async throws {
        try await withGuide { @MainActor db in
            let model = ColorsViewModel(db)
            model.subscribe()
            #expect(await model.next(\.$colors) { $0.count == 2 }?.map(\.name) == ["Carmine Pink", "Cerise"])
            try await db.collection("colors").addDocument(data: ["name": "Broken", "color": "not a color"])
            #expect(await model.next(\.$errorMessage) { $0?.contains("color") == true } != nil)
            #expect(model.colors.count == 2)
            model.add(ColorEntry(name: "White", color: .white))
            #expect(await model.next(\.$colors) { $0.count == 3 } != nil)
            model.unsubscribe()
        }
    }
}

@MainActor
private final class BookViewModel: ObservableObject {
    @Published var book: Book?
    @Published var errorMessage: String?
    private let db: Firestore

    init(_ db: Firestore) { self.db = db }

    func fetchBook(documentID: String) {
        db.collection("books").document(documentID).getDocument(as: Book.self) { result in
            switch result {
            case .success(let book):
                self.book = book
                self.errorMessage = nil
            case .failure(let error):
                self.errorMessage = "\(error)"
            }
        }
    }

    func fetchAndMap(documentID: String) async {
        do {
            book = try await db.collection("books").document(documentID).getDocument(as: Book.self)
            errorMessage = nil
        } catch {
            errorMessage = "\(error)"
        }
    }
}

@MainActor
private final class ColorsViewModel: ObservableObject {
    @Published var colors: [ColorEntry] = []
    @Published var errorMessage: String?
    private let db: Firestore
    private var listenerRegistration: (any ListenerRegistration)?

    init(_ db: Firestore) { self.db = db }

    func subscribe() {
        guard listenerRegistration == nil else { return }
        listenerRegistration = db.collection("colors").addSnapshotListener { [weak self] (querySnapshot, error) in
            guard let documents = querySnapshot?.documents else {
                self?.errorMessage = "No documents in 'colors' collection: \(String(describing: error))"
                return
            }
            var message: String?
            self?.colors = documents.compactMap { queryDocumentSnapshot in
                let result = Result { try queryDocumentSnapshot.data(as: ColorEntry.self) }
                switch result {
                case .success(let colorEntry):
                    return colorEntry
                case .failure(let error):
                    message = "\(error)"
                    return nil
                }
            }
            self?.errorMessage = message
        }
    }

    func unsubscribe() {
        listenerRegistration?.remove()
        listenerRegistration = nil
    }

    func add(_ entry: ColorEntry) {
        do {
            try db.collection("colors").addDocument(from: entry)
        } catch {
            errorMessage = "\(error)"
        }
    }
}

extension ObservableObject {
    /// Waits until a published property has a matching value.
    @MainActor
    fileprivate func next<Value: Sendable>(
        _ publisher: KeyPath<Self, Published<Value>.Publisher>,
        where isMatch: @escaping (Value) -> Bool
    ) async -> Value? {
        let (values, found) = AsyncStream.makeStream(of: Value.self)
        let subscription = self[keyPath: publisher].sink { value in
            if isMatch(value) { found.yield(value) }
        }
        defer { subscription.cancel() }
        for await value in values { return value }
        return nil
    }
}
