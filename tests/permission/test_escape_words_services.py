import pytest

from kova_ls.permission.escape_words_services import SERVICE_CHECKS


@pytest.mark.parametrize(
    "command",
    [
        "gh repo fork a --clone -- -u x",
        "kubectl config set-context x",
        "kubectl config view --raw",
        "docker context use x",
        "aws configure",
        "gcloud config set a b",
        "openssl x509 -in a",
        "gcloud iam service-accounts keys create x",
        "az aks command invoke",
        "az storage blob download",
        "sysctl a=b",
        "openssl s_client -connect a -sess_out x",
    ],
)
def test_words_that_reach_further_are_caught(command: str) -> None:
    program, *values = command.split()
    assert SERVICE_CHECKS[program](values) is not None


@pytest.mark.parametrize(
    "command",
    [
        "gh repo clone a/b",
        "gh pr view -- 5",
        "kubectl config get-contexts",
        "docker context ls",
        "aws configure list",
        "gcloud config get-value project",
        "openssl x509 -noout -in a -text",
    ],
)
def test_everyday_words_are_fine(command: str) -> None:
    program, *values = command.split()
    assert SERVICE_CHECKS[program](values) is None
