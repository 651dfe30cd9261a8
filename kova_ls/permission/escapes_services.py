"""Options by which container, cloud and device clients write or run something beyond their purpose.

Invariant: a prefix rule never covers words that this table catches.
"""

from kova_ls.permission.escapes import Escape

SERVICE_ESCAPES: tuple[Escape, ...] = (
    Escape(
        "kubectl oc helm",
        "--kubeconfig --cache-dir --post-renderer --editor cp plugin edit proxy attach port-forward"
        " plugins --output-dir@ --log-file@ --profile-output@ --profile",
        "uses other credentials, or runs or writes something",
        (
            "kubectl --kubeconfig x get po",
            "helm install --post-renderer x a b",
            "kubectl cp a b",
            "kubectl config set-context x",
            "kubectl config view --raw",
        ),
        ("kubectl get pods -n dev", "kubectl logs a", "helm list", "kubectl config get-contexts"),
        abbreviates=False,
    ),
    Escape(
        "kubectl oc",
        "-s --server --token --enable-exec --enable-alpha-plugins --helm-command --output-directory@"
        " krew rsync ctx",
        "reaches another cluster, or runs or writes something",
        (
            "kubectl kustomize --enable-exec x",
            "kubectl -s x get po",
            "kubectl cluster-info dump --output-directory=/x",
            "kubectl krew install x",
        ),
        ("kubectl get pods -A", "kubectl describe pod a", "kubectl apply -f k8s/"),
        abbreviates=False,
        valued="nlofckpw",
    ),
    Escape(
        "docker podman docker-compose nerdctl",
        "cp plugin save export --config -H --host --output -o --iidfile@ --cidfile@"
        " --metadata-file@ --builder -f@ --file@ --project-directory@ --env-file@ --volumes-from",
        "reaches files or machines elsewhere",
        (
            "docker cp a b",
            "docker -H x ps",
            "docker save -o x y",
            "docker context use x",
            "docker compose -f a cp b:/c d",
        ),
        (
            "docker ps",
            "docker context ls",
            "docker build -t x .",
            "docker compose -f dev.yml up -d --build",
            "docker logs a",
        ),
        valued="tln",
        abbreviates=False,
    ),
    Escape(
        "docker podman nerdctl docker-compose",
        "-c --context --set --runtime --conmon --hooks-dir --root@ --module --runroot@ --cdi-spec-dir",
        "reaches another machine or runs another program",
        (
            "docker --context x ps",
            "podman --runtime ./x ps",
            "docker buildx bake --set x.output=/y",
        ),
        ("docker ps", "docker compose up -d", "docker logs -f a"),
        abbreviates=False,
        valued="tlnfp",
    ),
    Escape(
        "terraform tofu terragrunt",
        "--chdir --out@ --state@ --state-out@ --backup@ --plugin-dir --backend-config console login"
        " --terragrunt-tfpath --tf-path",
        "acts elsewhere or runs another program",
        ("terraform -chdir=x plan", "terraform plan -out=/x", "terraform console"),
        ("terraform plan", "terraform plan -out=plan.bin"),
        abbreviates=False,
        single_dash=True,
    ),
    Escape(
        "terraform tofu terragrunt",
        "--generate-config-out@ --from-module --fs-mirror mirror --var-file@",
        "fetches other instructions or writes elsewhere",
        ("terraform init -from-module=x", "terraform plan -generate-config-out=/x"),
        ("terraform plan -var-file=dev.tfvars", "terraform validate"),
        abbreviates=False,
        single_dash=True,
    ),
    Escape(
        "aws gcloud az gsutil pulumi",
        "cp sync mv rm ssm ssh login alias extension plugin --endpoint-url"
        " --cli-input-json --configuration --impersonate-service-account --ca-bundle --cwd@",
        "moves files or changes credentials",
        (
            "aws s3 cp a b",
            "aws configure set x y",
            "aws configure",
            "gcloud config set a b",
            "aws s3 --region x cp a b",
        ),
        (
            "aws s3 ls",
            "az account show",
            "gcloud compute instances list",
            "gcloud config get-value project",
            "aws configure list",
        ),
    ),
    Escape(
        "aws gcloud az",
        "invoke get-object update-kubeconfig emr --outfile --output-template-file@ scp rsync"
        " start-iap-tunnel get-credentials print-access-token print-identity-token interactive"
        " --flags-file rest upgrade get-access-token components",
        "writes a file, shows a password or reaches further",
        (
            "aws lambda invoke --function-name x y",
            "aws s3api get-object --bucket a --key b c",
            "gcloud compute scp a b",
            "gcloud --flags-file=x info",
            "az account get-access-token",
        ),
        ("aws sts get-caller-identity", "gcloud run services list", "az group list"),
        abbreviates=False,
    ),
    Escape(
        "helm",
        "-d@ --destination@ --untardir@ --registry-config --repository-cache@ --repository-config"
        " --keyring --tlscert",
        "writes elsewhere or uses other settings",
        ("helm pull x -d /y", "helm pull x --untardir=../y"),
        ("helm list -A", "helm upgrade --install a ./chart -f values.yaml"),
        abbreviates=False,
        valued="nfl",
    ),
    Escape(
        "pulumi vercel netlify wrangler firebase supabase railway heroku fly flyctl render doctl",
        "-C@ --cwd@ dev:exec emulators:exec functions:shell run:detached ps:exec local:run"
        " plugins:install pg:psql psql sftp -f@ --file@",
        "runs a command, or acts elsewhere",
        (
            "firebase emulators:exec 'touch x'",
            "netlify dev:exec x",
            "heroku run:detached x",
            "pulumi -C /x up",
            "supabase db dump -f /x",
        ),
        ("vercel ls", "firebase deploy --only functions", "fly status", "supabase db push"),
        abbreviates=False,
    ),
    Escape(
        "vercel",
        "pull",
        "writes a file with secrets",
        ("vercel env pull", "vercel env pull .env.local"),
        ("vercel ls",),
        abbreviates=False,
    ),
    Escape(
        "systemctl",
        "-H --host -M --machine reboot poweroff halt kexec isolate emergency rescue",
        "reaches another machine, or ends this one",
        ("systemctl reboot", "systemctl -H x status a"),
        ("systemctl status x", "systemctl list-units"),
        valued="tnpo",
    ),
    Escape(
        "adb fastboot",
        "push pull emu flash flashall erase sideload root remount",
        "writes files or changes the device",
        ("adb push a b", "adb pull a /x", "fastboot flashall"),
        ("adb devices", "adb logcat -d"),
    ),
    Escape(
        "xcrun fastlane",
        "spawn run",
        "runs the command it is given",
        ("xcrun simctl spawn booted x", "fastlane run sh command:x"),
        ("xcrun simctl list devices", "fastlane test"),
        abbreviates=False,
    ),
    Escape(
        "kind minikube k3d",
        "export cp",
        "writes files elsewhere",
        ("kind export logs /x", "minikube cp a b"),
        ("kind get clusters", "minikube status"),
        abbreviates=False,
    ),
    Escape(
        "kustomize",
        "--enable-exec --enable-alpha-plugins --enable-star --helm-command -o@ --output@ fn cfg",
        "runs a program or writes elsewhere",
        ("kustomize build --enable-exec x", "kustomize build -o /x y", "kustomize fn run x"),
        ("kustomize build x",),
        abbreviates=False,
    ),
    Escape(
        "trivy grype syft tfsec checkov conftest semgrep gitleaks opa",
        "-o@ --output@ --out@ --output-file@ --file@ plugin plugins --external-checks-dir"
        " --external-checks-git --plugin --cache-dir@ --report-path@",
        "loads other code or writes elsewhere",
        ("trivy -o /x fs .", "checkov --external-checks-dir x", "syft a -o json=/x"),
        ("trivy fs .", "syft a -o json", "semgrep --config auto", "checkov -c CKV_1 -d ."),
        abbreviates=False,
    ),
    Escape(
        "skopeo crane oras cdk",
        "copy sync export pull -a --app --build --plugin -o@ --output@",
        "writes elsewhere or runs a program",
        ("skopeo copy a dir:/x", "cdk --app x synth", "crane export a b"),
        ("skopeo inspect a", "cdk synth", "crane ls a"),
        abbreviates=False,
    ),
    Escape(
        "aws gcloud az gsutil",
        "get-job-output get-export get-sdk get-media get-clip synthesize-speech invoke-endpoint"
        " invoke-with-response-stream get-object-torrent rsync --out-file --plaintext-file"
        " --ciphertext-file --output-file",
        "writes a file",
        (
            "aws polly synthesize-speech --text a x",
            "gcloud secrets versions access latest --out-file=x",
            "gsutil rsync a b",
            "gcloud iam service-accounts keys create x",
            "az storage blob download -f x",
            "az aks command invoke -c x",
        ),
        ("aws s3 ls", "gcloud secrets list", "az storage blob list"),
        abbreviates=False,
    ),
)
