import DocumentModel
import FirestoreProto
import Foundation
import HearthAPI
import SwiftProtobuf
import UTF8Text

/// `grpc.reflection.v1.ServerReflection` (https://github.com/grpc/grpc/blob/master/doc/server-reflection.md), by which tools such as
/// grpcurl learn the methods and messages of a server.
enum ReflectionService {
    private typealias Stream = StreamMethod<ProtoServerReflectionRequest, ProtoServerReflectionResponse>

    /// The names of the service. Their messages are the same.
    static let names = ["grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"]

    /// Creates the service with one of its names.
    ///
    /// - Parameter services: The names of the services that it lists.
    static func make(_ name: String, listing services: [String]) -> GRPCService {
        GRPCService(
            name: name,
            methods: [
                "ServerReflectionInfo": GRPCStream(
                    Stream(requiredPermission: .reader) { requests, responses, _ in
                        while let request = try await requests.next() {
                            try await responses.write([Definitions.all.response(to: request, listing: services)])
                        }
                    }
                )
            ]
        )
    }
}

/// The definitions of the server's messages and services, by file and by symbol.
private struct Definitions {
    /// Decoded when they are needed first.
    static let all = Definitions()

    private var files: [UTF8Key: Data] = [:]
    /// The names of the files, by the full names of what they define.
    private var filesBySymbol: [UTF8Key: UTF8Key] = [:]

    private init() {
        // Valid: generated with the messages, and decoded by a test.
        guard let bytes = Base64.standard.decode(encodedDefinitions.utf8),
            let set = try? Google_Protobuf_FileDescriptorSet(serializedBytes: bytes)
        else { return }
        for file in set.file {
            let name = UTF8Key(file.name)
            files[name] = try? file.serializedBytes()
            add(file.messageType, in: file.package, of: name)
            add(file.enumType.map(\.name) + file.extension.map(\.name) + file.service.map(\.name), in: file.package, of: name)
            for service in file.service {
                add(service.method.map(\.name), in: "\(file.package).\(service.name)", of: name)
            }
        }
    }

    private mutating func add(_ messages: [Google_Protobuf_DescriptorProto], in scope: String, of file: UTF8Key) {
        for message in messages {
            let name = "\(scope).\(message.name)"
            add([message.name], in: scope, of: file)
            add(message.enumType.map(\.name) + message.extension.map(\.name), in: name, of: file)
            add(message.nestedType, in: name, of: file)
        }
    }

    private mutating func add(_ names: [String], in scope: String, of file: UTF8Key) {
        for name in names { filesBySymbol[UTF8Key("\(scope).\(name)")] = file }
    }

    func response(to request: ProtoServerReflectionRequest, listing services: [String]) -> ProtoServerReflectionResponse {
        var response = ProtoServerReflectionResponse()
        response.validHost = request.host
        response.originalRequest = request
        switch request.messageRequest {
        case .listServices?:
            response.listServicesResponse.service = services.map { name in
                var service = ProtoServiceResponse()
                service.name = name
                return service
            }
        case .fileByFilename(let name)?:
            response.setFile(files[UTF8Key(name)])
        case .fileContainingSymbol(let symbol)?:
            response.setFile(filesBySymbol[UTF8Key(symbol)].flatMap { files[$0] })
        case .fileContainingExtension?, .allExtensionNumbersOfType?:
            response.setError(.notFound, "The messages of this server have no extensions.")
        case nil:
            response.setError(.invalidArgument, "Expected one of the requests of server reflection.")
        }
        return response
    }
}

extension ProtoServerReflectionResponse {
    fileprivate mutating func setFile(_ file: Data?) {
        if let file { fileDescriptorResponse.fileDescriptorProto = [file] } else { setError(.notFound, "Not found.") }
    }

    fileprivate mutating func setError(_ code: StatusCode, _ message: String) {
        errorResponse.errorCode = Int32(code.rawValue)
        errorResponse.errorMessage = message
    }
}

extension ProtoServerReflectionResponse: StreamResponse {}
